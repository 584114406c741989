import { NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { CopyButton } from '../../parts/copy-button.js'
import { curlCommand } from '../../parts/curl.js'
import { Folded } from '../../parts/panel.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { CODE, LANGUAGES, type Language } from './code.js'

/** The lines with which a program asks for this list: by OpenFeature in its language, by the library, by curl. */
export function CodePanel({ id }: { id: string }) {
  const { allowlists } = useTexts()
  const texts = allowlists.code
  const { keysRequired } = useSignedIn()
  const [language, setLanguage] = useState<Language>('curl')
  const code =
    language === 'curl'
      ? curlCommand({ path: `/customers/CUSTOMER/check?allowlists=${id}` }, keysRequired)
      : CODE[language]({ id, url: location.origin, keysRequired })
  return (
    <Folded title={texts.title}>
      <p>{texts.lead}</p>
      <NativeSelect
        label={texts.language}
        value={language}
        onChange={(event) => setLanguage(event.currentTarget.value as Language)}
        data={LANGUAGES.map((name) => ({ value: name, label: texts.languages[name] }))}
        maw={320}
        mb="sm"
      />
      <div className="curl">
        <div className="curl-head">
          <span>{texts.languages[language]}</span>
          <CopyButton text={code} label={texts.languages[language]} />
        </div>
        <pre>
          <code>{code}</code>
        </pre>
      </div>
    </Folded>
  )
}
