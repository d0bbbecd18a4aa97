import type { HttpRequest, HttpResponse } from '@petstore/gateway';
import type { PageFile } from './pageFiles.ts';

/**
 * The docs page: `/docs` shows the OpenAPI document, and sends the requests that a visitor tries out; `/` redirects to it.
 * Its files are loaded at the first request. Every address in it is relative: a proxy may serve it below a path.
 */
export function docsPage() {
  let loading: Promise<PageFile> | undefined;
  const file = (name: string, type: string) => async (request: HttpRequest) => {
    loading ??= import('./pageFiles.ts').then(({ createPageFiles }) => createPageFiles());
    return (await loading)(request, name, `text/${type}; charset=utf-8`);
  };
  return {
    '/': (): HttpResponse => ({ status: 302, headers: [['location', 'docs']] }),
    '/docs': file('index.html', 'html'),
    '/docs/start.js': file('start.js', 'javascript'),
    '/docs/scalar.js': file('scalar.js', 'javascript'),
  };
}
