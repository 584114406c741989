import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { remember, remembered } from '../preferences.js'
import { en, type Texts } from './en.js'
import { type Format, makeFormat } from './format.js'
import { ptBR } from './pt-BR.js'
import { speakAs } from './server-words.js'

export const LANGUAGES = { en: 'English', 'pt-BR': 'Português (Brasil)' } as const
export type Language = keyof typeof LANGUAGES

const TEXTS: Record<Language, Texts> = { en, 'pt-BR': ptBR }

interface Spoken {
  language: Language
  setLanguage(language: Language): void
  texts: Texts
  format: Format
}

const LanguageContext = createContext<Spoken | undefined>(undefined)

function initialLanguage(): Language {
  const chosen = remembered('language')
  if (chosen === 'en' || chosen === 'pt-BR') return chosen
  const known = navigator.languages.find((name) => /^(?:pt|en)\b/i.test(name))
  return known?.toLowerCase().startsWith('pt') ? 'pt-BR' : 'en'
}

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(initialLanguage)
  useEffect(() => {
    document.documentElement.lang = language
  }, [language])
  speakAs(language)
  const spoken = useMemo(
    () => ({
      language,
      setLanguage: (next: Language) => {
        remember('language', next)
        setLanguage(next)
      },
      texts: TEXTS[language],
      format: makeFormat(language),
    }),
    [language],
  )
  return <LanguageContext value={spoken}>{children}</LanguageContext>
}

export function useLanguage(): Spoken {
  const spoken = useContext(LanguageContext)
  if (spoken === undefined) throw new Error('used outside of LanguageProvider')
  return spoken
}

export const useTexts = (): Texts => useLanguage().texts
export const useFormat = (): Format => useLanguage().format
