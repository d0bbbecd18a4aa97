/** One valid call of an operation, by the names that its parameters have in the document. */
export interface Sample {
  readonly path?: Readonly<Record<string, string | number | readonly string[]>>;
  readonly query?: object;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly cookie?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Without it: any of 2xx. */
  readonly status?: number;
}

const born = '2026-01-02T03:04:05.000Z';

/** A call of each operation of the composed router. Shapes of errors are answered with the error that they declare. */
export const samples: Readonly<Record<string, Sample>> = {
  'inputs.animals.add': { body: { kind: 'cat', lives: 9 } },
  'inputs.animalsByPath.put': { path: { kind: 'dog' }, body: { born } },
  'inputs.arraysOfObjects.rooms': { query: { children: [{ age: 9, bed: true }] } },
  'inputs.bodyOfDelete.drop': { path: { id: 1 }, query: { force: true }, body: { reason: 'r' } },
  'inputs.inCookies.look': { cookie: { theme: 'dark' } },
  'inputs.deepObjects.list': { query: { pagination: { page: 2 }, filter: { name: 'a' } } },
  'inputs.eventLog.log': { body: [{ at: born, n: 1 }] },
  'inputs.inHeaders.list': { query: { name: 'a' }, headers: { 'X-Tenant': 7 } },
  'inputs.listStyles.users': { query: { 'ids[]': ['a', 'b'] } },
  'inputs.mergePatch.edit': { path: { id: 1 }, body: { isbn: null } },
  'inputs.notes.edit': { path: { id: 'a' }, body: { title: 'b' } },
  'inputs.pages.list': { path: { path: 'a' }, query: { after: 'x', 'ids[]': [1, 2], filter: { name: 'a' } } },
  'inputs.payments.pay': { path: { orderId: 7 }, query: { dryRun: true }, body: { card: '4242' } },
  'inputs.queryMethod.list': {},
  'inputs.queryMethod.add': {},
  'inputs.queryMethod.find': { body: { ids: [1] } },
  'inputs.queryOfPost.hook': { query: { token: 'a', 'max-tries': 3 }, body: { event: 'e' } },
  'inputs.queryUnion.thing': { query: { type: 'another', anotherVar: 5 } },
  'inputs.records.translate': { body: { en: 'dog' } },
  'inputs.records.store': { body: [1] },
  'inputs.renamedInPath.get': { path: { petId: 7 } },
  'inputs.repeated.read': { query: { labels: ['a', 'b'] } },
  'inputs.restOfPath.file': { path: { path: 'a' } },
  'inputs.restOfPath.info': {},
  'inputs.restOfPath.one': { path: { bucket: 'b' } },
  'inputs.restOfPath.key': { path: { bucket: 'b', key: ['x'] } },
  'inputs.scalars.say': { body: 'hello' },
  'inputs.scalars.set': { body: 5 },
  'inputs.selfReferences.find': { query: { sort: { name: 'asc' }, filter: { is: 'a' } } },
  'inputs.trimmed.say': { body: 'abc' },
  'outputs.exportRouter.pets': {},
  'outputs.exportRouter.remove': {},
  'outputs.exportRouter.blob': {},
  'outputs.exportRouter.broken': { status: 500 },
  'outputs.statuses.adopt': { body: { how: 'later' } },
  'outputs.statuses.wrong': { status: 500 },
  'outputs.statuses.stripped': {},
  'outputs.travelling.visit': { body: { at: born, until: born, price: '3.20', name: 'Rex' } },
  'outputs.undescribed.pets': {},
  'outputs.undescribed.touch': {},
  'outputs.undescribed.secret': { status: 500 },
  'errors.challengeless.declared': { query: { locked: true }, status: 403 },
  'errors.challengeless.others': {},
  'errors.described.limited': { status: 429 },
  'errors.inherited.locked': { status: 423 },
  'errors.inherited.closed': { status: 423 },
  'errors.shopRouter.order': { body: { count: 5 } },
  'errors.shopRouter.undeclared': { status: 409 },
  'errors.subscribed.ticks': {},
  'errors.undescribedFormatter.a': { status: 404 },
  'errors.written.write': { status: 429 },
  'errors.written.quiet': { query: { a: 1 }, status: 503 },
  'errors.written.passed': { query: { a: 1 }, status: 500 },
  'credentials.notesRouter.notes': {},
  'credentials.notesRouter.writePOST': {},
  'credentials.notesRouter.writePUT': {},
  'credentials.notesRouter.writePATCH': {},
  'credentials.notesRouter.writeDELETE': {},
  'credentials.notesRouter.me': {},
};

/** Operations that no client calls: the events of this one never end. */
export const endless: readonly string[] = ['credentials.notesRouter.ticks'];
