// Hot path: every response runs through it. Each call into uWebSockets.js costs about 0.15 µs, and a header was one: a
// GET of one animal writes nine (`npm run bench`, case get: 0.65 → 0.68 of the bare server).
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { isWritableHeader } from '../../http/headers.ts';
import type { HttpResponse, Header } from '../../http/response.ts';
import { statusText } from '../../http/statusText.ts';

/** Shared headers as they are written, the first one's name apart. */
interface Block {
  readonly name: string;
  readonly rest: string;
}

/** `null`: they cannot be written. */
const blocks = new WeakMap<readonly Header[], Block | null>();

/** The block of shared headers, made once for all responses that share them. */
function blockOf(headers: readonly Header[]): Block | null {
  const known = blocks.get(headers);
  if (known !== undefined) return known;
  const [first, ...others] = headers;
  const block =
    first !== undefined && headers.every(isWritableHeader)
      ? {
          name: first[0],
          rest: others.reduce((text, [name, value]) => `${text}\r\n${name}: ${value}`, first[1]),
        }
      : null;
  blocks.set(headers, block);
  return block;
}

/** Whether a response's status and headers may be written as they are. */
export function isWritableHead({ status, headers, sharedHeaders }: HttpResponse): boolean {
  // The status is written as it is, too. Those below 200 end no request (RFC 9110 §15.2).
  if (!Number.isInteger(status) || status < 200 || status > 999) return false;
  if (sharedHeaders && sharedHeaders.length > 0 && blockOf(sharedHeaders) === null) return false;
  for (const header of headers) if (!isWritableHeader(header)) return false;
  return true;
}

/** Writes status and headers, all of them in one: uWebSockets.js writes a value as it is, line breaks too. */
export function writeHead(res: NativeResponse, { status, headers, sharedHeaders }: HttpResponse): void {
  res.writeStatus(statusLine(status));
  const block = sharedHeaders && blockOf(sharedHeaders);
  const name = block?.name ?? headers[0]?.[0];
  if (name === undefined) return;
  let text = block?.rest ?? headers[0]?.[1] ?? '';
  for (let at = block ? 0 : 1; at < headers.length; at += 1) {
    const header = headers[at] as Header;
    text += `\r\n${header[0]}: ${header[1]}`;
  }
  res.writeHeader(name, text);
}

const statusLines = new Map<number, string>();

function statusLine(status: number): string {
  const known = statusLines.get(status);
  if (known) return known;
  const line = `${status} ${statusText(status)}`;
  statusLines.set(status, line);
  return line;
}
