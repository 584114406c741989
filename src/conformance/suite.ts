/**
 * A suite is data: cases that every engine must pass, with any test runner. Every case gets a fresh, empty store,
 * opened by two engine instances.
 */
export interface Case<Port> {
  readonly name: string
  /** Parallel callers on both instances; exactly the permitted number may succeed. */
  readonly race: boolean
  run(pair: Pair<Port>): Promise<void>
}

export interface Pair<Port> {
  /** Two engine instances on one store, like two processes. */
  readonly one: Port
  readonly two: Port
}

export interface Suite<Port> {
  readonly port: string
  readonly cases: readonly Case<Port>[]
}

/** Opens a fresh, empty store twice. */
export type OpenPair<Port> = () => Promise<Pair<Port> & { close(): Promise<void> }>

type Run<Port> = Case<Port>['run']

/** Makes a suite of named cases; those under `races` are marked as races. */
export function suite<Port>(
  port: string,
  cases: Record<string, Run<Port>>,
  races: Record<string, Run<Port>>,
): Suite<Port> {
  const all = (named: Record<string, Run<Port>>, race: boolean): Case<Port>[] =>
    Object.entries(named).map(([name, run]) => ({ name, race, run }))
  return { port, cases: [...all(cases, false), ...all(races, true)] }
}

/** The part of a test runner that is needed; `node:test`, Vitest and Jest have it. */
export interface Runner {
  describe(name: string, body: () => void): void
  it(name: string, body: () => Promise<void>): void
  after(body: () => void | Promise<void>): void
}

/** Registers a suite, and a final test that every case was run. */
export function register<Port>(
  runner: Runner,
  engine: string,
  tested: Suite<Port>,
  open: OpenPair<Port>,
): void {
  if (tested.cases.length === 0) throw new Error(`the suite ${tested.port} has no cases`)
  if (!tested.cases.some((one) => one.race)) throw new Error(`the suite ${tested.port} has no race`)
  runner.describe(`${engine}: ${tested.port}`, () => {
    let ran = 0
    for (const { name, race, run } of tested.cases) {
      runner.it(race ? `race: ${name}` : name, async () => {
        ran++
        const pair = await open()
        try {
          await run(pair)
        } finally {
          await pair.close()
        }
      })
    }
    runner.after(() => {
      if (ran !== tested.cases.length) {
        throw new Error(`${tested.port}: ${ran} of ${tested.cases.length} cases ran on ${engine}`)
      }
    })
  })
}
