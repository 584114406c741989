import { readdir } from 'node:fs/promises'

// All tests of the console run in one process, because they share one browser: to start the browser and to load the
// server takes longer than most of the tests.
for (const name of await readdir(new URL('.', import.meta.url))) {
  if (name.endsWith('.js') && !name.endsWith('.test.js')) await import(`./${name}`)
}
