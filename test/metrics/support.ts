/** One line of a scrape. */
export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

const LINE = /^(\w+)(?:\{(.*)\})? (\S+)$/
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g

/** The text format of Prometheus, read strictly: a line that is neither a comment nor a sample is a mistake. */
export function parse(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels = '', value] = LINE.exec(line) ?? []
      if (name === undefined || value === undefined) throw new Error(`not a sample: ${line}`)
      const pairs = [...labels.matchAll(LABEL)].map(([, key, content]) => [key!, content!])
      return { name, labels: Object.fromEntries(pairs), value: value === '+Inf' ? Infinity : Number(value) }
    })
}

/** Names of the metrics that a scrape declares. */
export function declared(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\w+) /gm)].map((match) => match[1]!)
}

/** The value of one series; undefined where it is absent. */
export function sampleOf(
  samples: Sample[],
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  const found = samples.filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )
  if (found.length > 1) throw new Error(`${found.length} series of ${name} have these labels`)
  return found[0]?.value
}
