// Tries the package as users do: other versions of Node, frameworks, consumer projects. Takes at most 30 minutes.
// Each entry is a function that throws when something does not work.
const TRIALS = {}

for (const [name, trial] of Object.entries(TRIALS)) {
  const startedAt = performance.now()
  await trial()
  console.log(`compat: ${name} works (${((performance.now() - startedAt) / 1000).toFixed(0)} s)`)
}
console.log(`compat: ${Object.keys(TRIALS).length} trials`)
