import type { HttpRequest, HttpResponse } from '@petstore/gateway';
import type { PageFile } from './pageFiles.ts';

/**
 * `/docs`: what the service offers, to read and to try out. `/` leads there. What it takes is loaded when it is asked
 * for. Every address in it is relative: a proxy may serve it below a path.
 */
export function docsRoutes() {
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
