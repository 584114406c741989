import { Page } from '../../parts/page.js'
import { useTexts } from '../../texts/language.js'

export default function CheckPage() {
  const { check: texts } = useTexts()
  return <Page title={texts.title}>{null}</Page>
}
