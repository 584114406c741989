import { Durations } from '../../../core/figures.js'

/** How long servers took to answer, by command, from when it was sent. */
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
