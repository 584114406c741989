/** Numbers from 0 to `count` − 1, the i-th with a chance in proportion to 1 / (i + 1)^exponent. */
export function zipf(count: number, exponent: number, random: () => number): () => number {
  const sums = new Float64Array(count)
  let sum = 0
  for (let i = 0; i < count; i++) sums[i] = sum += 1 / (i + 1) ** exponent
  return () => {
    const wanted = random() * sum
    let [low, high] = [0, count - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle]! < wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}
