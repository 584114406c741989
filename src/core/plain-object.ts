/** Whether it is an object of no class, of whichever realm (`vm`, a test runner): each realm has an `Object` of its own. */
export function isPlainObject(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value)
  if (prototype === null) return true
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'hasOwnProperty')
}
