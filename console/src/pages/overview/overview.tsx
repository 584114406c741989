import { Page } from '../../parts/page.js'
import { useTexts } from '../../texts/language.js'

export default function OverviewPage() {
  const { overview: texts } = useTexts()
  return <Page title={texts.title}>{null}</Page>
}
