/** Whether it is an object without a class, from any realm (`vm`, a test runner): each realm has its own `Object`. */
export function isPlainObject(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value)
  if (prototype === null) return true
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'hasOwnProperty')
}
