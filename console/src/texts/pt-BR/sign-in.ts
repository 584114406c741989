import type { signIn as en } from '../en/sign-in.js'

export const signIn: typeof en = {
  title: 'Entrar',
  lead: 'Use uma chave de API deste servidor. Ela fica nesta aba e é esquecida quando você a fecha.',
  key: 'Chave de API',
  keyHint: 'Crie uma com: catraca key create NOME --scopes read,check',
  submit: 'Entrar',
  wrongKey: 'O servidor não conhece esta chave, ou ela foi revogada.',
  missingKey: 'Digite uma chave.',
  refused: 'Você saiu: o servidor não aceita mais sua chave.',
  idle: 'Você saiu depois de 30 minutos sem atividade.',
  signedOut: 'Você saiu.',
  signedOutElsewhere: 'Você saiu em outra aba.',
  unsaved: (name) =>
    `Mudanças que não foram salvas estão guardadas para a chave ${name}. Se você entrar com outra chave, elas se perdem.`,
  dropped: 'Mudanças que não foram salvas com a outra chave foram descartadas.',
  foreign: 'Este servidor ainda não tem chaves e só responde à própria máquina.',
}
