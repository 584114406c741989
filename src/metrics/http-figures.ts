import { Durations } from '../core/figures.js'

interface Row {
  method: string
  route: string
  status: number
  count: number
}

/** Requests by route, never by path. Routes and statuses are few, so there is no limit here. */
export class HttpFigures {
  /** All routes together. */
  readonly durations = new Durations()
  private readonly rows = new Map<string, Row>()
  private readonly byRoute = new Map<string, Durations>()

  add(method: string, route: string, status: number, ms: number): void {
    this.row(method, route, status).count++
    this.ofRoute(route).add(ms)
    this.durations.add(ms)
  }

  /** The same for one method, route and status, looked up once instead of for each response. */
  counter(method: string, route: string, status: number): (ms: number) => void {
    const row = this.row(method, route, status)
    const durations = this.ofRoute(route)
    return (ms) => {
      row.count++
      durations.add(ms)
      this.durations.add(ms)
    }
  }

  requests(): Iterable<Readonly<Row>> {
    return this.rows.values()
  }

  routes(): Iterable<[string, Durations]> {
    return this.byRoute
  }

  private row(method: string, route: string, status: number): Row {
    const key = `${method} ${status} ${route}`
    let row = this.rows.get(key)
    if (row === undefined) this.rows.set(key, (row = { method, route, status, count: 0 }))
    return row
  }

  private ofRoute(route: string): Durations {
    let durations = this.byRoute.get(route)
    if (durations === undefined) this.byRoute.set(route, (durations = new Durations()))
    return durations
  }
}
