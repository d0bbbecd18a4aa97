import { FetchRequest } from '../adapters/serve/fetchRequest.ts';

/** For a single policy or protocol, or a target that `Request` would normalize; else use `gateway.fetch`. */
export function inProcessRequest(
  method: string,
  target: string,
  headers: Record<string, string> | [string, string][] = {},
  body: string | Uint8Array<ArrayBuffer> = '',
): FetchRequest {
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const request = new Request('http://localhost', { method, headers, ...(hasBody && { body }) });
  const [path = '', ...query] = target.split('?');
  return Object.assign(new FetchRequest(request, Infinity, '127.0.0.1'), { path, query: query.join('?') });
}
