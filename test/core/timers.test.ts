import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, describe, it } from 'node:test'
import { SharedTimer, Waiter } from '../../src/core/shared-timer.js'
import { every, guarded, later, reportFailuresTo, soon } from '../../src/core/timers.js'
import { until } from '../server/support.js'

const told: string[] = []
reportFailuresTo((error) => told.push((error as Error).message))
after(() => reportFailuresTo(() => {}))

describe('timers', () => {
  it('do not end the process, whatever they throw, and go on', async () => {
    let runs = 0
    const timer = every(() => {
      runs++
      if (runs === 1) throw new Error('thrown')
      if (runs === 3) return Promise.reject(new Error('rejected'))
      return undefined
    }, 1)
    await until('it runs on', () => runs >= 5)
    clearInterval(timer)
    assert.deepEqual(told.splice(0), ['thrown', 'rejected'])
    later(() => assert.fail('later'), 1)
    later(() => Promise.reject(new Error('later, rejected')), 1)
    soon(() => assert.fail('soon'))
    await until('all were told', () => told.length === 3)
    assert.deepEqual(told.splice(0).sort(), ['later', 'later, rejected', 'soon'])
  })

  it('tell of a failure once, until it is over', () => {
    let fails = true
    const work = guarded(() => {
      if (fails) throw new Error('down')
    })
    for (let i = 0; i < 3; i++) work()
    fails = false
    work()
    fails = true
    work()
    assert.deepEqual(told.splice(0), ['down', 'down'])
  })

  it('are told as a warning where nobody owns the process', async () => {
    const { reportFailuresTo: _, ...fresh } = (await import(
      `${new URL('../../src/core/timers.js', import.meta.url)}?fresh`
    )) as typeof import('../../src/core/timers.js')
    const warned = once(process, 'warning')
    fresh.soon(() => assert.fail('nobody looks'))
    const [warning] = (await warned) as [Error]
    assert.deepEqual(
      [warning.name, warning.message],
      ['CatracaWarning', 'background work failed: nobody looks'],
    )
  })

  it('wake all who are due, also when one of them fails', async () => {
    const wakes = new SharedTimer(() => performance.now())
    let woken = 0
    class Failing extends Waiter {
      override onDue(): void {
        woken++
        throw new Error('asleep')
      }
    }
    const due = performance.now() + 5
    for (let i = 0; i < 3; i++) wakes.schedule(new Failing(), due)
    const keepAlive = setInterval(() => {}, 1000)
    await until('all are woken', () => woken === 3)
    clearInterval(keepAlive)
    assert.deepEqual(told.splice(0), ['asleep', 'asleep', 'asleep'])
  })
})
