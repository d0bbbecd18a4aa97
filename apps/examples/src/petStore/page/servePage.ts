import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export interface Page {
  /** The origin for `CORS_ORIGINS`: scheme, host and port. */
  readonly origin: string;
  readonly close: () => void;
}

/** Bundles the page and serves it on 127.0.0.1, at another origin than the pet store. */
export async function servePage(port = 0): Promise<Page> {
  const here = fileURLToPath(new URL('.', import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [`${here}main.tsx`],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    minify: true,
    conditions: ['trpc-gateway-source'],
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  });
  const html = await readFile(`${here}index.html`, 'utf8');
  const server = createServer(({ url }, response) => {
    if (url === '/main.js') response.setHeader('content-type', 'text/javascript').end(outputFiles[0]?.text);
    else response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  const { port: listening } = server.address() as { readonly port: number };
  return {
    origin: `http://127.0.0.1:${listening}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
