// Package testresults reads what test runners print and the reports that they
// write, and tells how many tests passed and which failed.
//
// [Parser] takes a run's output as it comes, in pieces cut anywhere, and keeps
// a bounded amount of it whatever is printed. It recognises
//
//   - TAP, versions 12 to 14: plans, subtests (indented, announced by a
//     "# Subtest" comment or not, or in braces), YAML diagnostics, the
//     directives SKIP and TODO, pragmas, "Bail out!", points without numbers.
//     A stream without a version line has to have both points and a plan;
//   - node:test, by the totals that end its TAP and its spec output;
//   - Mocha, Jest and Vitest, by the summary that a person reads;
//   - a JUnit or JSON report printed among the rest.
//
// [ParseReport] reads reports from files: JUnit XML, and the JSON of Jest,
// Vitest and Mocha, told apart by their shape.
//
// # What is counted
//
// A framework's own totals are taken where it prints them. Otherwise every test
// point or test case counts that has none inside it; one that has some counts
// by them, and by itself only when it failed and nothing in it did. A TODO that
// fails is no failure. A planned test that never ran is one; what else may be
// wrong with a TAP stream (no plan, too many points, a bail-out) stands among
// the failures without being counted as a test, as does a test file that could
// not be loaded where the framework does not count it either.
//
// Output may hold several summaries, of several frameworks or of several
// packages of one repository: they are added up. A report takes the place of
// what the same framework printed. JUnit reports that do not say whose they are
// count only when nothing else was recognised, for they tell of the same tests.
// The same failure told twice is listed once. Lines that another tool puts its
// own prefix before, as some do that run many packages at once, are not
// recognised.
//
// # Whom to believe
//
// All of it comes from the program under test, which can print what it likes.
// Results describe; a run's exit code decides ([Results.Disagrees]).
package testresults
