import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answersBetween } from '../../../src/cli/load/answers.js'
import { sampleLine } from '../../../src/cli/load/display.js'
import { broken, findMax, ramp, type Step } from '../../../src/cli/load/find-max.js'
import { htmlReport } from '../../../src/cli/load/html-report.js'
import { Recorder } from '../../../src/cli/load/recorder.js'
import type { LoadResult } from '../../../src/cli/load/result.js'
import { stepLine, textReport } from '../../../src/cli/load/text-report.js'

const EVIL = `<script src="https://evil.example/x.js">'&"</script>`

function result(change: Partial<LoadResult> = {}): LoadResult {
  const recorder = new Recorder()
  const operation = { name: EVIL, expects: (status: number) => status === 200 }
  for (let i = 0; i < 100; i++) {
    recorder.due(i, i)
    recorder.answered({ operation, text: '' }, i, i, i + 1 + i / 10, i < 98 ? 200 : 500)
  }
  recorder.failed({ operation, text: '' }, 'reset', 1, 1, 2)
  recorder.sample(3)
  recorder.sample(4)
  return {
    ...{ url: `http://x/${EVIL}`, mix: EVIL, arrivals: 'constant', startedAt: EVIL, rate: 100, seconds: 1 },
    ...{ endedEarly: false, due: 101, answered: 100, achievedRate: 100, ...recorder.summaries() },
    ...{ errors: recorder.errors, errorCount: recorder.errorCount, statuses: recorder.statusCounts() },
    ...{ operations: recorder.operationResults(), samples: recorder.samples, curve: recorder.curve() },
    generator: recorder.generatorHealth(4, 64),
    ...change,
  }
}

describe('report of a load test', () => {
  it('as a page refers to nothing outside, and escapes what it shows', () => {
    const health = { ...result().generator, saturation: [EVIL] }
    const page = htmlReport(result({ generator: health }), [{ rate: 5, isKept: false, result: result() }])
    assert.ok(!page.includes('<script'))
    assert.ok(page.includes('&lt;script src=&quot;https://evil.example/x.js&quot;&gt;&#39;&amp;&quot;'))
    assert.doesNotMatch(page, /\b(src|href|srcset|action)=["']|@import|url\(|<link|<iframe|<img/i)
    assert.equal(page.match(/<svg /g)?.length, 3)
    assert.match(page, /prefers-color-scheme: dark/)
    assert.ok(!page.includes('NaN'))
  })

  it('as a page may speak of a day, and shades the warm-up', () => {
    const second = { sent: 5, answered: 5, errors: 0, inFlight: 0, p50: 1, p95: 2, p99: 3 }
    const samples = Array.from({ length: 90_000 }, (_, i) => ({ second: i - 1, ...second }))
    const page = htmlReport(result({ samples }))
    assert.ok(!page.includes('class="shade"'), 'two seconds of a day have no width')
    const short = htmlReport(result({ samples: samples.slice(0, 10) }))
    assert.equal(short.match(/class="shade"/g)?.length, 2)
  })

  it('as a page stands also where nothing was answered', () => {
    const none = new Recorder()
    const page = htmlReport(result({ ...none.summaries(), samples: [], curve: [], operations: [] }))
    assert.ok(page.includes('no data') && !page.includes('NaN'))
  })

  it('as text has both times, errors by kind, and the shares that the server counted', () => {
    const before = { filtered: 5, overlay: 0, trusted: 0, verified: 10, confirmed: 0, store: 1 }
    const after = { filtered: 20, overlay: 0, trusted: 0, verified: 90, confirmed: 5, store: 1 }
    const text = textReport(result({ answers: answersBetween(before, after)! })).join('\n')
    assert.match(text, /errors +3 \(status 2, reset 1\)/)
    assert.match(text, /statuses +200: 98, 500: 2/)
    assert.match(text, /filtered 15\.0 %, verified 80\.0 %, confirmed 5\.0 %/)
    assert.equal(answersBetween(after, before), undefined, 'the server began anew meanwhile')
  })

  it('says when the generator itself was late', () => {
    const recorder = new Recorder()
    for (let i = 0; i < 100; i++) recorder.due(i, i < 98 ? i : i + 6)
    const { late, saturation } = recorder.generatorHealth(4, 64)
    assert.equal(late, 2)
    assert.match(saturation.join(), /2\.0 % of the requests were sent late by the generator itself/)
    assert.match(
      textReport(result({ generator: recorder.generatorHealth(4, 64) })).join('\n'),
      /AT ITS LIMIT/,
    )
  })

  it('in one line a second', () => {
    const sample = { second: 3, sent: 1, answered: 5000, errors: 2, inFlight: 7, p50: 0.5, p95: 12, p99: 345 }
    assert.match(
      sampleLine(sample),
      /3 s +5,000\/s +7 in flight +p50\/p95\/p99 0\.50 \/ 12\.0 \/ 345 ms +2 errors/,
    )
    assert.match(sampleLine({ ...sample, second: 0 }), /^warm-up/)
  })
})

describe('the highest rate', () => {
  const at = (rate: number, p99: number, change: Partial<LoadResult> = {}): LoadResult =>
    result({ rate, due: 100, errorCount: 0, latencyMs: { ...result().latencyMs, p99 }, ...change })
  const search = async (
    limit: number,
    from = 1000,
    to = 200_000,
  ): Promise<[number | undefined, number[]]> => {
    const steps: Step[] = []
    const run = async (rate: number) => at(rate, rate <= limit ? 5 : 50)
    const best = await findMax(run, { maxP99Ms: 10 }, { from, to, onStep: (step) => steps.push(step) })
    return [best?.rate, steps.map(({ rate }) => rate)]
  }

  it('is found by doubling, then by halving, to 5 %', async () => {
    for (const limit of [1500, 7300, 23_456, 60_000]) {
      const [best, rates] = await search(limit)
      assert.ok(best! <= limit && best! >= limit * 0.95, `${best} of ${limit}, by ${rates}`)
      assert.ok(rates.length < 15)
    }
    assert.deepEqual((await search(5000))[1].slice(0, 4), [1000, 2000, 4000, 8000])
  })

  it('may lie below the first, above the last, or nowhere', async () => {
    assert.ok((await search(300))[0]! >= 285)
    assert.equal((await search(1e9, 1000, 3000))[0], 3000)
    assert.equal((await search(0))[0], undefined)
  })

  it('is not one with errors, nor one that was not served', async () => {
    for (const wrong of [{ errorCount: 1 }, { answered: 90 }]) {
      const run = async (rate: number) => at(rate, 1, rate > 2000 ? wrong : {})
      const best = await findMax(run, { maxP99Ms: 10 }, { from: 1000, to: 9000, onStep: () => {} })
      assert.ok(best!.rate <= 2000)
    }
  })

  it('is not lost to one disturbance, and is to two', async () => {
    for (const [disturbances, expected] of [
      [1, 4000],
      [2, undefined],
    ]) {
      let left = disturbances!
      const run = async (rate: number) => at(rate, rate === 1000 && left-- > 0 ? 99 : rate > 4000 ? 50 : 5)
      const best = await findMax(run, { maxP99Ms: 10 }, { from: 1000, to: 4000, onStep: () => {} })
      if (expected === undefined) assert.ok(best!.rate < 1000)
      else assert.equal(best!.rate, expected)
    }
  })

  it('is not one whose answers came behind the run, where no time bounds it', async () => {
    const run = async (rate: number) => at(rate, 900, rate > 2000 ? { achievedRate: 60 } : {})
    const best = await findMax(run, {}, { from: 1000, to: 9000, onStep: () => {} })
    assert.equal(best!.rate, 2000)
  })

  it('tells of the attempt that did not count, and how answers were made', async () => {
    const counts = { filtered: 15, overlay: 0, trusted: 0, verified: 80, confirmed: 5, store: 0 }
    const none = { filtered: 0, overlay: 0, trusted: 0, verified: 0, confirmed: 0, store: 0 }
    const answers = answersBetween(none, counts)!
    let attempts = 0
    const run = async (rate: number) => at(rate, attempts++ === 0 ? 99 : 5, { answers })
    const lines: string[] = []
    const onStep = (step: Step) => lines.push(stepLine(step))
    await findMax(run, { maxP99Ms: 10 }, { from: 1000, to: 2000, onStep })
    assert.match(lines[0]!, /kept at the second attempt \(the first: p99 is 99\.00 ms, more than 10 ms\)/)
    assert.match(lines[1]!, /kept {2}\[filtered 15\.0 %, verified 80\.0 %, confirmed 5\.0 %\]/)
  })

  it('is told of a ramp too', async () => {
    const rates: number[] = []
    const run = async (rate: number) => at(rate, rate <= 5000 ? 5 : 50)
    const search = { from: 1000, to: 20_000, onStep: (step: Step) => void rates.push(step.rate) }
    const best = await ramp(run, { maxP99Ms: 10 }, search)
    assert.deepEqual([rates.length, rates[0], rates.at(-1)], [8, 1000, 20_000])
    assert.equal(best!.rate, Math.max(...rates.filter((rate) => rate <= 5000)))
  })

  it('breaks a bound in words', () => {
    assert.deepEqual(broken(at(1, 12.345, { errorCount: 3 }), { maxP99Ms: 10, maxErrors: 2 }), [
      'p99 is 12.35 ms, more than 10 ms',
      '3 errors, more than 2',
    ])
  })
})
