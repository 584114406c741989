import type { Freed } from './port.js'
import type { ConfigKey } from './types.js'

type OnFreed = (freed: Freed) => void
/** Undefined: any configuration may have changed. */
type OnConfig = (changed: ConfigKey | undefined) => void

/** Those who are told of freed subjects and of changed configuration. */
export class NoticeListeners {
  private readonly freed = new Set<OnFreed>()
  private readonly configs = new Set<OnConfig>()

  get isEmpty(): boolean {
    return this.freed.size + this.configs.size === 0
  }

  onFreed(listener: OnFreed): () => void {
    this.freed.add(listener)
    return () => this.freed.delete(listener)
  }

  onConfig(listener: OnConfig): () => void {
    this.configs.add(listener)
    return () => this.configs.delete(listener)
  }

  tellFreed(freed: Freed): void {
    for (const listener of this.freed) listener(freed)
  }

  tellConfig(changed: ConfigKey | undefined): void {
    for (const listener of this.configs) listener(changed)
  }

  clear(): void {
    this.freed.clear()
    this.configs.clear()
  }
}

/** The configuration that a notice names; undefined, which means all, if it names none that this version knows. */
export function changedConfig(level?: string, resource?: string, entity?: string): ConfigKey | undefined {
  if (resource === undefined) return undefined
  if (level === 'entity' && entity !== undefined) return { level, entity, resource }
  return level === 'system' || level === 'resource' ? { level, resource } : undefined
}
