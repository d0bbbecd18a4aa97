import fc from 'fast-check';
import { expect, it } from 'vitest';
import { boundaryOf, parseMultipart } from './multipart.ts';

const encode = (text: string) => new TextEncoder().encode(text);

async function* inChunks(bytes: Uint8Array, cuts: readonly number[]) {
  let start = 0;
  for (const end of [...cuts, bytes.length]) {
    yield bytes.slice(start, end);
    start = end;
  }
}

/** Returns the parts of a body, each with its head and its text. */
async function partsOf(bytes: Uint8Array, boundary: string, cuts: readonly number[] = []) {
  const parts: { head: object; bytes: number[] }[] = [];
  for await (const event of parseMultipart(inChunks(bytes, cuts), boundary)) {
    if (event instanceof Uint8Array) parts.at(-1)?.bytes.push(...event);
    else parts.push({ head: event, bytes: [] });
  }
  return parts.map(({ head, bytes: body }) =>
    Object.assign(head, { text: new TextDecoder().decode(new Uint8Array(body)) }),
  );
}

const body = [
  'a preamble\r\n--b \r\nContent-Disposition: form-data; name="title"\r\n\r\nhello\r\n',
  '--b\r\ncontent-disposition: form-data; name="f"; filename="a%22b.txt"\r\nContent-Type: text/csv\r\n\r\n',
  'x\r\n--\r\n-\r--\r\n--B--\r\n--b\r\n',
  "Content-Disposition: form-data; name=g; filename=x; filename*=UTF-8''%e2%82%ac\r\n\r\n\r\n--b--\r\nan epilogue",
].join('');
const parts = [
  { name: 'title', filename: undefined, type: 'text/plain', text: 'hello' },
  { name: 'f', filename: 'a"b.txt', type: 'text/csv', text: 'x\r\n--\r\n-\r--\r\n--B--' },
  { name: 'g', filename: 'x', type: 'application/octet-stream', text: '' },
];

it('parseMultipart yields the same parts for every division into chunks', async () => {
  const bytes = encode(body);
  expect(await partsOf(bytes, 'b')).toEqual(parts);
  for (let cut = 1; cut < bytes.length; cut += 1) expect(await partsOf(bytes, 'b', [cut])).toEqual(parts);
  expect(await partsOf(bytes, 'b', [...bytes.keys()])).toEqual(parts);
});

it('parseMultipart reads every FormData as Response.formData does', async () => {
  const text = fc.string({ unit: fc.constantFrom('\r', '\n', '-', 'a', '"', '\\', '%', 'é') });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(text, text, fc.boolean())),
      fc.array(fc.nat(300)),
      async (fields, cuts) => {
        const form = new FormData();
        for (const [name, value, isFile] of fields)
          form.append(name, isFile ? new File([value], name) : value);
        const response = new Response(form);
        const bytes = new Uint8Array(await response.arrayBuffer());
        const boundary = boundaryOf(response.headers.get('content-type') ?? '');
        const parsed = await partsOf(
          bytes,
          boundary,
          cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b),
        );
        const again = await new Response(bytes, { headers: response.headers }).formData();
        const expected = await Promise.all(
          Array.from(again, async ([name, value]) =>
            typeof value === 'string'
              ? { name, text: value }
              : { name, filename: value.name, text: await value.text() },
          ),
        );
        expect(parsed).toMatchObject(expected);
      },
    ),
  );
});

it.each([
  ['FORM-DATA; NAME="a"', { name: 'a' }],
  ['form-data; name="a%0d%0A%22b"', { name: 'a\r\n"b' }],
  ["form-data; name=a; filename=b; filename*=utf-8''%e2%82%ac", { name: 'a', filename: 'b' }],
])('parseMultipart reads a part with Content-Disposition: %s', async (disposition, head) => {
  const text = `--b\r\nContent-Disposition: ${disposition}\r\n\r\nx\r\n--b--`;
  expect(await partsOf(encode(text), 'b')).toMatchObject([{ ...head, text: 'x' }]);
});

it('parseMultipart accepts 8,192 bytes of headers in a part, and rejects one more', async () => {
  const disposition = '\r\nContent-Disposition: form-data; name="a"\r\nX: ';
  const withHeaders = (size: number) => encode(`--b${disposition.padEnd(size, 'x')}\r\n\r\nx\r\n--b--`);
  expect(await partsOf(withHeaders(8192), 'b')).toMatchObject([{ name: 'a', text: 'x' }]);
  await expect(partsOf(withHeaders(8193), 'b')).rejects.toThrow(/larger than 8192 bytes/);
});

it('parseMultipart yields pieces that share no memory', async () => {
  const buffers: ArrayBuffer[] = [];
  for await (const event of parseMultipart(inChunks(encode(body), []), 'b')) {
    if (event instanceof Uint8Array) buffers.push(event.buffer);
  }
  expect(new Set(buffers).size).toBe(buffers.length);
  expect(buffers.length).toBeGreaterThan(1);
});

it('parseMultipart stops reading the body when its consumer stops', async () => {
  let hasStopped = false;
  async function* chunks() {
    try {
      yield encode(body);
      yield encode(body);
    } finally {
      hasStopped = true;
    }
  }
  for await (const event of parseMultipart(chunks(), 'b')) if (event) break;
  expect(hasStopped).toBe(true);
});

it.each([
  [
    'that ends in a part',
    '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nhello',
    /ends before its last/,
  ],
  ['that is empty', '', /ends before its last/],
  ['with a part without a name', '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--', /with a name/],
  [
    'with an attachment',
    '--b\r\nContent-Disposition: attachment; name="a"\r\n\r\nx\r\n--b--',
    /form-data with a name/,
  ],
  [
    'with text after a boundary on its line',
    '--bc\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--',
    /followed by other text on its line/,
  ],
  ['with headers that never end', `--b\r\n${'x'.repeat(9000)}`, /larger than 8192 bytes/],
])('parseMultipart rejects a body %s', async (_name, text, message) => {
  await expect(partsOf(encode(text), 'b')).rejects.toThrow(message);
});

it.each([
  'multipart/form-data',
  'multipart/form-data; boundary=',
  `multipart/form-data; boundary=${'x'.repeat(71)}`,
  `multipart/form-data; boundary="${'x'.repeat(71)}"`,
])('boundaryOf rejects %s', (contentType) => {
  expect(() => boundaryOf(contentType)).toThrow('must have a boundary of 1 to 70 characters');
});

it.each([
  ['multipart/form-data; boundary=x', 'x'],
  ['multipart/form-data; charset=utf-8; Boundary="a b"', 'a b'],
  [`multipart/form-data; boundary=${'x'.repeat(70)}`, 'x'.repeat(70)],
  [`multipart/form-data; boundary="${'x'.repeat(70)}"`, 'x'.repeat(70)],
])('boundaryOf(%s) returns %s', (contentType, boundary) => {
  expect(boundaryOf(contentType)).toBe(boundary);
});
