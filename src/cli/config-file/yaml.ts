import { isScalar, parseDocument, type Scalar, visit } from 'yaml'

/**
 * Reads YAML or JSON. Names stay as they are written: YAML would take `0123` for the number 123, which is the name of
 * somebody else.
 */
export function parseYaml(text: string): unknown {
  const uniqueKeys = (a: unknown, b: unknown) => isScalar(a) && isScalar(b) && written(a) === written(b)
  const document = parseDocument(text, { uniqueKeys })
  const [mistake] = document.errors
  if (mistake !== undefined) throw mistake
  visit(document, {
    Pair(_, { key }) {
      if (isScalar(key)) key.value = written(key)
    },
  })
  return document.toJS({ maxAliasCount: 100 })
}

const written = ({ value, source }: Scalar): string => (typeof value === 'string' ? value : (source ?? ''))
