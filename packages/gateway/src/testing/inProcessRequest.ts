import { FetchRequest } from '../adapters/fetch/request.ts';

/**
 * A request for a policy or a protocol by itself, and for what a `Request` would change: its target is kept as it is.
 * To call a gateway otherwise, use its `fetch`.
 */
export function inProcessRequest(
  method: string,
  target: string,
  headers: Record<string, string> = {},
  body = '',
): FetchRequest {
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const request = new Request('http://localhost', { method, headers, ...(hasBody && { body }) });
  const [path = '', query = ''] = target.split('?');
  return Object.assign(new FetchRequest(request, Infinity, '127.0.0.1'), { path, query });
}
