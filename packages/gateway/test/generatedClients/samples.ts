/** A valid call of an operation, with its parameters by the names in the document. */
export interface Sample {
  readonly path?: Readonly<Record<string, string | number | readonly string[]>>;
  readonly query?: object;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly cookie?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The expected status. Default: any 2xx. */
  readonly status?: number;
  /** The value that the client returns, of a stream its first event. Default: none. */
  readonly value?: unknown;
}

/** A file of a form, or the body of an upload. */
export class FileSample {
  readonly text: string;
  readonly name: string;

  constructor(text: string, name: string) {
    this.text = text;
    this.name = name;
  }
}

const epoch = '1970-01-01T00:00:00.000Z';
const born = '2026-01-02T03:04:05.000Z';
const file = new FileSample('hello', 'a.txt');

const errorSample = (status: number, code: string, message: string): Sample => ({
  status,
  value: { code, message, status },
});
const internalError = errorSample(500, 'INTERNAL_SERVER_ERROR', 'Internal server error');

/** A call that returns all properties that are sent. */
const echo = (sent: Sample): Sample => ({
  ...sent,
  value: Object.assign({}, sent.path, sent.query, sent.cookie, sent.body) as unknown,
});

/** A call of each operation of the composed router. The shapes of errors respond with a declared error. */
export const samples: Readonly<Record<string, Sample>> = {
  'inferred.animal': {
    value: { id: 1, kind: 'dog', bornAt: epoch, mother: { id: 2, kind: 'dog', bornAt: epoch, mother: null } },
  },
  'inputs.animals.add': echo({ body: { kind: 'cat', lives: 9 } }),
  'inputs.animalsByPath.put': echo({ path: { kind: 'dog' }, body: { born } }),
  'inputs.bodyOfDelete.drop': echo({ path: { id: 1 }, query: { force: true }, body: { reason: 'r' } }),
  'inputs.inCookies.look': echo({ cookie: { theme: 'dark' } }),
  'inputs.deepObjects.list': {
    query: { pagination: { page: 2 }, filter: { name: 'a' } },
    value: { pagination: { page: 2, limit: 10 }, filter: { name: 'a' } },
  },
  'inputs.eventLog.log': { body: [{ at: born, n: 1 }], value: [{ at: born, n: 1 }] },
  'inputs.inHeaders.list': {
    query: { name: 'a' },
    headers: { 'X-Tenant': 7 },
    value: { tenant: 7, name: 'a' },
  },
  'inputs.mergePatch.edit': echo({ path: { id: 1 }, body: { isbn: null } }),
  'inputs.notes.edit': echo({ path: { id: 'a' }, body: { title: 'b' } }),
  'inputs.pages.list': echo({
    path: { path: 'a' },
    query: { after: 'x', ids: [1, 2], filter: { name: 'a' } },
  }),
  'inputs.payments.pay': echo({ path: { orderId: 7 }, query: { dryRun: true }, body: { card: '4242' } }),
  'inputs.queryOfPost.hook': {
    query: { token: 'a', 'max-tries': 3 },
    body: { event: 'e' },
    value: { token: 'a', tries: 3, event: 'e' },
  },
  'inputs.queryUnion.thing': echo({ query: { type: 'another', anotherVar: 5 } }),
  'inputs.records.translate': echo({ body: { en: 'dog' } }),
  'inputs.records.store': { body: [1], value: [1] },
  'inputs.renamedInPath.get': { path: { petId: 7 }, value: { id: 7 } },
  'inputs.restOfPath.file': echo({ path: { path: 'a' } }),
  'inputs.restOfPath.info': {},
  'inputs.restOfPath.one': echo({ path: { bucket: 'b' } }),
  'inputs.restOfPath.key': echo({ path: { bucket: 'b', key: ['x'] } }),
  'inputs.scalars.greet': { body: 'hello', value: 'hello' },
  'inputs.scalars.set': { body: 5, value: 5 },
  'inputs.selfReferences.find': echo({ query: { sort: { name: 'asc' }, filter: { is: 'a' } } }),
  'inputs.tuples.put': echo({ body: { pair: ['a', 1], most: [1, 2], mixed: 1 } }),
  'outputs.exportRouter.pets': { value: [{ id: 1, name: 'Rex' }] },
  'outputs.exportRouter.remove': {},
  'outputs.exportRouter.blob': { value: '<p>Rex</p>' },
  'outputs.exportRouter.broken': internalError,
  'outputs.statuses.adopt': {
    body: { how: 'later' },
    value: { id: 1, name: 'Rex' },
  },
  'outputs.travelling.visit': {
    body: { at: born, until: born, price: '3.20', name: 'Rex' },
    value: { at: born, until: born, price: 1250, name: 3, kind: 'Date number number' },
  },
  'outputs.undescribed.pets': { value: [{ name: 'Rex', born: '1970-01-01T00:00:00.000Z' }] },
  'outputs.undescribed.touch': {},
  'outputs.undescribed.secret': internalError,
  'errors.challengeless.declared': {
    query: { locked: true },
    ...errorSample(403, 'ACCOUNT_LOCKED', 'Account locked'),
  },
  'errors.challengeless.others': {},
  'errors.shopRouter.order': { body: { count: 5 }, value: { id: 5 } },
  'errors.shopRouter.undeclared': errorSample(409, 'CONFLICT', 'Too few are left.'),
  'errors.subscribed.ticks': { value: 1 },
  'errors.undescribedFormatter.a': errorSample(404, 'NOT_FOUND', 'Not found'),
  'errors.written.write': errorSample(429, 'TOO_MANY_REQUESTS', 'Slow down.'),
  'errors.written.quiet': {
    query: { a: 1 },
    ...errorSample(503, 'SERVICE_UNAVAILABLE', 'Service unavailable'),
  },
  'errors.written.passed': { query: { a: 1 }, ...internalError },
  'credentials.notesRouter.notes': { value: 'notes of Ada' },
  'credentials.notesRouter.writePOST': { value: 'written' },
  'credentials.notesRouter.writePUT': { value: 'written' },
  'credentials.notesRouter.writePATCH': { value: 'written' },
  'credentials.notesRouter.writeDELETE': { value: 'written' },
  'credentials.notesRouter.ticks': { value: 0 },
  'credentials.notesRouter.me': { value: 'Ada' },
  'uploads.limitedUploads.note': { body: { text: 'hello' }, value: { size: 5 } },
  'uploads.limitedUploads.other': { body: file, value: { size: 5 } },
  'uploads.limitedUploads.upload': { body: file, value: { size: 5 } },
  'uploads.octetParser.upload': { body: file, value: { size: 5 } },
  'uploads.photos.photo': { body: file, value: 'image/png' },
  'uploads.spooledAlbum.add': {
    body: { title: 'Summer', photo: file, more: [file] },
    value: { title: 'Summer', photo: 'hello', more: [['a.txt', 5, 'application/octet-stream']] },
  },
  'uploads.streamBesideFields.upload': {
    path: { name: 'x' },
    query: { tag: 5 },
    headers: { 'X-Tenant': 'a' },
    body: file,
    value: { name: 'x', tag: 5, tenant: 'a', size: 5 },
  },
  'uploads.unread.upload': { body: file, value: { size: 0 } },
  'uploads.wholeBlob.whole': { body: file, value: { size: 5 } },
  'uploads.wholeBlob.part': { path: { name: 'x' }, body: file, value: { name: 'x', text: 'hello' } },
  'uploads.wholeBytes.whole': { body: file, value: { size: 5 } },
  'uploads.wholeBytes.part': { path: { name: 'x' }, body: file, value: { name: 'x', text: 'hello' } },
  'hooks.hooked.read': { query: { name: 'Rex' }, value: 'Rex of Ada' },
  'hooks.hooked.conflict': errorSample(409, 'CONFLICT', 'Taken.'),
  'hooks.hooked.upload': { body: { size: 5 }, value: 5 },
  'hooks.transformed.described': { value: 'here' },
  ...Object.fromEntries(
    ['valibotPets', 'arktypePets'].flatMap((library) => [
      [
        `standardSchema.${library}.find`,
        {
          path: { id: 7 },
          query: { tags: ['a', 'b'], sort: 'age', filter: { city: 'Bonn' } },
          headers: { tenant: 'acme' },
          value: { id: 7, tags: ['a', 'b'], sort: 'age', filter: { city: 'Bonn' }, tenant: 'acme' },
        },
      ],
      [
        `standardSchema.${library}.create`,
        { body: { name: 'Tom', kind: 'cat' }, value: { id: 1, name: 'Tom' } },
      ],
      [`standardSchema.${library}.watch`, { value: { n: 1 } }],
    ]),
  ),
  'standardSchema.bodies.tree': {
    body: { name: 'a', children: [{ name: 'b', children: [] }] },
    value: { value: 1, next: { value: 1 } },
  },
  'standardSchema.bodies.union': { body: { kind: 'b', n: 5 }, value: 5 },
  'standardSchema.bodies.list': { body: [{ n: 5 }], value: 5 },
  'standardSchema.chained.rename': echo({
    path: { owner: 'ann', id: 7 },
    query: { dryRun: true },
    body: { name: 'Tom' },
  }),
  'standardSchema.forms.sign': echo({ body: { age: 5, tags: ['a', 'b'], terms: true } }),
  'standardSchema.optional.list': echo({ query: { limit: 5 } }),
  'standardSchema.optional.remove': { path: { id: 'a' } },
  'standardSchema.partlyDescribed.find': { value: { name: 'Tom', size: 5 } },
  'standardSchema.partlyDescribed.site': { value: { site: 'http://pets.example/' } },
};
