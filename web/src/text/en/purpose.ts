// Words for what a model is for.

export const purposes = {
  of: {
    chat: 'Chat',
    embeddings: 'Embeddings',
    rerank: 'Ranking',
    transcription: 'Transcription',
    images: 'Image classes',
    sounds: 'Sound classes',
  },
  what: (purpose: string) => `What the model is for: ${purpose}`,
  row: 'For',
  choice: (name: string, purpose: string) => `${name} (${purpose})`,
  noChat: {
    embeddings: 'This model does not chat: it makes embeddings',
    rerank: 'This model does not chat: it ranks texts',
  },
  why: {
    embeddings: 'An embedding is a list of numbers for a text. Texts that mean the same have similar numbers, so a program can search by meaning.',
    rerank: 'The model says for each of several texts how well it answers a question, so a program can show the best first.',
  },
  try: (device: string) => `Paste this line into a terminal on ${device}. It sends the request that the model is for:`,
  line: 'Request',
  terminal: 'Terminal',
  shells: { sh: 'Linux or macOS', powershell: 'Windows (PowerShell)' },
  other: 'To chat, choose another model above, or deploy one.',
  words: ['How tall is the Eiffel Tower?', 'The Eiffel Tower is 330 metres tall.', 'Bread is made of flour and water.'],
} as const;
