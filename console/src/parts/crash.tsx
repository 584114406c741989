import { Component, type ReactNode } from 'react'
import { toProblem } from '../api/client.js'
import { ProblemView } from './problem.js'

/** When a page fails or cannot be loaded, the menu stays, and the next page is tried again. */
export class Crash extends Component<{ place: string; children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {}

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error }
  }

  override componentDidUpdate({ place }: { place: string }): void {
    if (place !== this.props.place && this.state.error !== undefined) this.setState({ error: undefined })
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children
    return <ProblemView problem={toProblem(this.state.error)} retry={() => void loadAnew()} always />
  }
}

/** Reloads only when the server answers: otherwise the browser would replace the console by its own error page. */
async function loadAnew(): Promise<void> {
  const isThere = await fetch('/live').then(
    () => true,
    () => false,
  )
  if (isThere) location.reload()
}
