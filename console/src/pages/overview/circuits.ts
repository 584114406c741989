import { ApiProblem, api } from '../../api/client.js'

const OPEN = /^catraca_engine_circuit_open\{([^}]*)\} 1$/
const LABEL = /(\w+)="([^"]*)"/g

/** Stores that this process has stopped asking, as its metrics say. None where metrics are off. */
export async function openCircuits(signal: AbortSignal): Promise<string[]> {
  try {
    const response = await api.getMetrics({}, { signal })
    return openIn(await response.text())
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return []
    throw error
  }
}

/** `engine: capability`, each once, although reads and writes have their own circuits. */
export function openIn(metrics: string): string[] {
  const names = metrics.split('\n').flatMap((line) => {
    const labels = OPEN.exec(line)?.[1]
    if (labels === undefined) return []
    const { engine, capability } = Object.fromEntries(
      [...labels.matchAll(LABEL)].map(([, name, value]) => [name, value]),
    )
    return [`${engine}: ${capability}`]
  })
  return [...new Set(names)]
}
