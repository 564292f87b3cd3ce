package columns

// SuiteSchedules is how many schedules the search of the suite runs on the columns that
// are shown.
const SuiteSchedules = 104926
