import type { signIn as en } from '../en/sign-in.js'

export const signIn: typeof en = {
  title: 'Entrar',
  lead: 'Use uma chave de API deste servidor. Ela vale para as outras abas abertas e é esquecida quando a última é fechada.',
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
  withProvider: (name) => `Entrar com ${name}`,
  company: 'a conta da empresa',
  leadProvider: 'Use a conta da sua empresa. Sua sessão termina quando você sai, ou quando perde o acesso.',
  useKey: 'Usar uma chave de API',
  ended: 'Sua sessão terminou. Entre de novo.',
  notEnded:
    'O servidor não respondeu, e sua sessão nele pode continuar. Entre e saia de novo, ou feche o navegador.',
  failures: {
    denied: 'O provedor não deixou você entrar, ou você voltou.',
    'no-role':
      'O provedor conhece você, mas nenhum dos seus grupos tem um papel aqui. Fale com quem cuida deste servidor.',
    expired: 'Esta entrada começou há tempo demais, ou em outro navegador. Comece de novo.',
    failed: 'A entrada falhou. Comece de novo; se falhar outra vez, o log do servidor diz por quê.',
    away: 'O provedor não responde. Tente de novo em instantes, ou use uma chave de API.',
    busy: 'Muitas entradas falharam. Tente de novo em um minuto.',
  },
  foreign: 'Este servidor ainda não tem chaves e só responde à própria máquina.',
}
