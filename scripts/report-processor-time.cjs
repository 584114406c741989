// `scripts/test.mjs` loads this into the process of each test file. It reports the processor time of the file, with all
// processes that the file started and that have ended.
const { appendFileSync } = require('node:fs')
const { isMainThread } = require('node:worker_threads')
const { processorSeconds } = require('./processor-seconds.cjs')

const report = process.env.TEST_PROCESSOR_TIME
// A process that a test starts is counted by the file that started it.
delete process.env.TEST_PROCESSOR_TIME
if (isMainThread && report !== undefined) {
  process.on('exit', () => appendFileSync(report, `${process.argv[1]}\t${processorSeconds() ?? 0}\n`))
}
