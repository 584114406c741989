import { Curl, type CurlProps } from '../../parts/curl.js'
import { useTexts } from '../../texts/language.js'

/** Where a page has several parts, each with a call of its own: out of the way until it is wanted. */
export function FoldedCurl(props: CurlProps) {
  const { common } = useTexts()
  return (
    <details className="folded-curl">
      <summary>{common.sameAsCurl}</summary>
      <Curl {...props} />
    </details>
  )
}
