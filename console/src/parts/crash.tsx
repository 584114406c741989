import { Component, type ReactNode } from 'react'
import { toProblem } from '../api/client.js'
import { ProblemView } from './problem.js'

/** A page that fails leaves the menu standing. */
export class Crash extends Component<{ children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {}

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error }
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children
    return <ProblemView problem={toProblem(this.state.error)} retry={() => location.reload()} />
  }
}
