import { useSignedIn } from '../session/store.js'
import { useTexts } from '../texts/language.js'
import { CopyButton } from './copy-button.js'

export interface CurlProps {
  method?: string
  /** Path with query, as sent. */
  path: string
  body?: unknown
}

/** A call as a command line. The key is referenced, never shown. */
export function Curl({ method = 'GET', path, body }: CurlProps) {
  const { common } = useTexts()
  const { keysRequired } = useSignedIn()
  const command = curlCommand({ method, path, body }, keysRequired)
  return (
    <div className="curl">
      <div className="curl-head">
        <span>{common.sameAsCurl}</span>
        <CopyButton text={command} label="curl" />
      </div>
      <pre>
        <code>{command}</code>
      </pre>
      {keysRequired && <p>{common.curlKeyNote}</p>}
    </div>
  )
}

export function curlCommand({ method = 'GET', path, body }: CurlProps, keysRequired: boolean): string {
  const parts = ['curl']
  if (method !== 'GET') parts.push(`-X ${method}`)
  if (keysRequired) parts.push('-H "Authorization: Bearer $CATRACA_KEY"')
  if (body !== undefined) {
    parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`)
  }
  parts.push(quoted(location.origin + path))
  return parts.join(' \\\n  ')
}

/** In single quotes only the closing quote has a meaning for the shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
