// The words of the frame of the site in Portuguese. The English ones come with VitePress.
export const PORTUGUESE = {
  theme: {
    outline: { level: [2, 3], label: 'Nesta página' },
    docFooter: { prev: 'Anterior', next: 'Próxima' },
    darkModeSwitchLabel: 'Aparência',
    lightModeSwitchTitle: 'Mudar para o tema claro',
    darkModeSwitchTitle: 'Mudar para o tema escuro',
    sidebarMenuLabel: 'Menu',
    returnToTopLabel: 'Voltar ao topo',
    langMenuLabel: 'Mudar o idioma',
    skipToContentLabel: 'Ir para o conteúdo',
    notFound: {
      title: 'Página não encontrada',
      quote: 'Não há nenhuma página neste endereço.',
      linkLabel: 'ir para a página inicial',
      linkText: 'Página inicial',
    },
  },
  search: {
    translations: {
      button: { buttonText: 'Buscar', buttonAriaLabel: 'Buscar' },
      modal: {
        displayDetails: 'Mostrar detalhes',
        resetButtonTitle: 'Limpar a busca',
        backButtonTitle: 'Fechar a busca',
        noResultsText: 'Nada encontrado para',
        footer: {
          selectText: 'para abrir',
          navigateText: 'para escolher',
          closeText: 'para fechar',
        },
      },
    },
  },
}

const ENGLISH_ONLY = '::: info Só em inglês\nEsta página existe só em inglês.\n:::\n'

/** An English page among the Portuguese ones: a note below its title says that it is not translated. */
export const notTranslated = (page) => page.replace(/^# .*$/m, (title) => `${title}\n\n${ENGLISH_ONLY}`)
