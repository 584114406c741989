/** Works on all of them, so many at a time. */
export async function inTurns<T>(
  all: readonly T[],
  atOnce: number,
  work: (one: T) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < all.length) await work(all[next++]!)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, worker))
}
