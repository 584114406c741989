import { Durations } from '../../../core/figures.js'

/** Response times of the servers, by command, measured from sending. */
export class CommandTimes {
  private readonly byCommand = new Map<string, Durations>()

  add(command: string, ms: number): void {
    let times = this.byCommand.get(command)
    if (times === undefined) {
      times = new Durations()
      this.byCommand.set(command, times)
    }
    times.add(ms)
  }

  rows(): ReadonlyMap<string, Durations> {
    return this.byCommand
  }
}
