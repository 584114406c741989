// biome-ignore lint/suspicious/noExplicitAny: methods of every kind; only `any` takes the arguments of all of them.
export type Method = (...args: any[]) => unknown

/** Makes a method do more, or returns it as it is. */
export type Decoration = (name: string, method: Method) => Method

/**
 * An object with the same members, whose methods call the target inside the decorations; the last one is outermost.
 * The target stays as it is. The compiler requires every member in the table, so that none is forgotten.
 */
export function decorated<T extends object>(
  target: T,
  members: { readonly [Name in keyof T]-?: unknown },
  ...decorations: readonly Decoration[]
): T {
  // A prototype, like that of a class: an object with so many properties of its own is slow to read from.
  const made: Record<string, unknown> = {}
  for (const name of Object.keys(members) as (keyof T & string)[]) {
    const member = target[name]
    if (typeof member === 'function') {
      const decorate = (method: Method, decoration: Decoration) => decoration(name, method)
      made[name] = decorations.reduce(decorate, member.bind(target))
    } else Object.defineProperty(made, name, { enumerable: true, get: () => target[name] })
  }
  return Object.create(made)
}
