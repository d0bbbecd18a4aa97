/** A request of an operation, with its parameters by the names in the document. */
export interface Sample {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** A new row of each resource, and a change of it. Dates are texts, as in JSON. */
export const rows = {
  organizations: [
    { name: 'Acme', seats: 3, address: { street: 'Main Street 1', city: 'Springfield' } },
    { domain: 'acme.example' },
  ],
  customers: [
    { email: 'cy@acme.example', name: 'Cy', birthday: '1990-04-01T00:00:00.000Z', organization: null },
    { vip: true },
  ],
  teams: [{ name: 'First line', members: ['ada@desk.example'] }, { members: [] }],
  categories: [{ name: 'Printers' }, { parent: 1 }],
  tags: [{ name: 'paper-jam', color: 'red' }, { color: 'blue' }],
  articles: [
    { title: 'Paper jams', body: 'Open the lid.', publishedAt: '2026-01-05T08:00:00.000Z', isPinned: true },
    { keywords: ['paper', 'jam'] },
  ],
  replies: [{ title: 'Thanks', text: 'Thank you for waiting.', shared: true }, { shared: false }],
  views: [{ name: 'Urgent', filter: { minPriority: 2 }, columns: ['subject'] }, { name: 'Very urgent' }],
  webhooks: [{ url: 'https://hooks.example/desk', events: ['created'] }, { active: false }],
  policies: [{ name: 'Gold', firstReplyMinutes: 30, solveHours: 4.5 }, { solveHours: 8 }],
  holidays: [{ day: '2026-12-25T00:00:00.000Z', name: 'Christmas' }, { everyYear: true }],
  assets: [{ serial: 'X-1', price: 99.9, notes: { place: 'cellar' } }, { price: 10 }],
} as const satisfies Record<string, readonly [row: object, change: object]>;

const ofResource = (name: string, [row, change]: readonly [row: object, change: object]) => ({
  [`${name}-create`]: { body: { ...row } },
  [`${name}-list`]: { query: { limit: 5, newestFirst: true } },
  [`${name}-byId`]: { path: { id: 1 } },
  [`${name}-update`]: { path: { id: 1 }, body: { ...change } },
  [`${name}-remove`]: { path: { id: 1 } },
});
const { replies: _replies, views: _views, ...published } = rows;

/** A valid request of each operation, in an order in which a server that has just started can respond to all. */
export const samples: Readonly<Record<string, Sample>> = {
  'service-version': {},
  'account-signUp': { body: { email: 'dan@desk.example', password: 'secret' } },
  'account-signIn': { body: { email: 'dan@desk.example', password: 'secret' } },
  'account-me': {},
  ...Object.assign({}, ...Object.entries(published).map(([name, row]) => ofResource(name, row))),
  'tickets-create': {
    body: {
      subject: 'No paper',
      text: 'The printer is empty.',
      due: '2026-02-01T12:00:00.000Z',
      requester: { email: 'cy@acme.example', phone: 555 },
    },
  },
  'tickets-list': { query: { priority: 'normal', dueBefore: '2026-03-01', limit: 3 } },
  'tickets-byId': { path: { id: 1 } },
  'tickets-update': { path: { id: 1 }, body: { subject: 'Out of paper', priority: 'high', due: null } },
  'tickets-assign': { path: { id: 1 }, body: { assignee: 'bob@desk.example' } },
  'tickets-comment': { path: { id: 1 }, body: { text: 'On my way.', internal: true } },
  'tickets-comments': { path: { id: 1 }, query: { since: '2026-01-01' } },
  'tickets-watch': { path: { id: 1 } },
  'attachments-ofTicket': { path: { ticket: 1 } },
  'tickets-close': { path: { id: 1 } },
  'tickets-reopen': { path: { id: 1 } },
  'tickets-purge': { body: { closedBefore: '2027-01-01T00:00:00.000Z' } },
  'reports-volume': { query: { from: '2026-01-01', to: '2026-01-08' } },
  'reports-largest': { query: { first: 12, second: 7 } },
  'reports-broken': {},
  'settings-get': {},
  'settings-set': { body: { name: 'Our desk', locale: 'fr' } },
  'account-signOut': { body: {} },
};
