import { Curl, type CurlProps } from '../../parts/curl.js'
import { useTexts } from '../../texts/language.js'

/** For pages with several parts that each have a call: collapsed until it is opened. */
export function FoldedCurl(props: CurlProps) {
  const { common } = useTexts()
  return (
    <details className="folded-curl">
      <summary>{common.sameAsCurl}</summary>
      <Curl {...props} />
    </details>
  )
}
