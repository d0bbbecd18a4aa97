import { request as httpRequest } from 'node:http';
import type { CaseRequest } from './cases.ts';

/** A response as it was received. */
export interface ParsedResponse {
  readonly status: number;
  /** Several of one name are joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends one request to a server of this machine. */
export function call(port: number, { method, path, headers, body }: CaseRequest): Promise<ParsedResponse> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, method, path, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const named = Object.entries(response.headersDistinct).map(([name, values]) => [
            name,
            values?.join(', '),
          ]);
          resolve({
            status: response.statusCode ?? 0,
            headers: Object.fromEntries(named) as Record<string, string>,
            body: Buffer.concat(chunks).toString(),
          });
        });
      },
    );
    request.on('error', reject).end(body);
  });
}
