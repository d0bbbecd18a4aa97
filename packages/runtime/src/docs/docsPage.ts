import type { HttpRequest, HttpResponse } from 'trpc-gateway';
import type { PageFile } from './pageFiles.ts';

/**
 * Returns the routes of the docs page: `/docs` renders the OpenAPI document and sends requests from the browser; `/`
 * redirects to it. The files are loaded on the first request. All URLs in the page are relative, so a proxy may serve it
 * below a path.
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
