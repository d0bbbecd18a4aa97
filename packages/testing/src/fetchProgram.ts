import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { build } from 'esbuild';
import { embedDocsPage } from './embedDocsPage.ts';
import type { NamedRuntime } from './runtimes.ts';
import { startProcess } from './startProcess.ts';

/** Without the last one, the signal of a request aborts once its response was sent. */
export const denoOptions = ['--allow-all', '--no-prompt', '--unstable-no-legacy-abort'];

/**
 * Bundles a program whose default export has a `fetch`, starts it on a runtime that serves it, Deno or workerd, and waits
 * until it listens on 127.0.0.1. @param options `port`: by default, a free one
 */
export async function startFetchProgram(
  { name, executable }: NamedRuntime,
  entry: string,
  { port = 0 }: { readonly port?: number } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'fetch-program-'));
  const [bundle, config] = [join(folder, 'bundle.js'), join(folder, 'config.capnp')];
  await writeFile(bundle, await bundled(entry));
  await writeFile(config, workerdConfig);
  const args =
    name === 'workerd'
      ? ['serve', config, `--socket-addr=http=127.0.0.1:${port}`, '--control-fd=3']
      : ['serve', ...denoOptions, '--no-config', '--host=127.0.0.1', `--port=${port}`, bundle];
  const child = startProcess(executable, args, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let stderr = '';
  const portFound = new Promise<number>((resolve, reject) => {
    // workerd writes to the control file, Deno to stderr.
    for (const stream of child.stdio.slice(2) as Readable[]) {
      let text = '';
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (stream === child.stderr) stderr = text;
        const found = /"port":(\d+)\D|127\.0\.0\.1:(\d+)\D/.exec(text);
        if (found) resolve(Number(found[1] ?? found[2]));
      });
    }
    void ended.then(() => reject(new Error(`${name} ended: ${stderr}`)));
  });
  const origin = `http://127.0.0.1:${await portFound}`;
  return {
    origin,
    /** The text that the program has printed on stderr so far. */
    stderr: () => stderr,
    close: async () => {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

const bundles = new Map<string, Promise<string>>();

/** Returns the bundle of a program. Each is created once: a suite starts the same program many times. */
function bundled(entry: string): Promise<string> {
  const bundle =
    bundles.get(entry) ??
    build({
      entryPoints: [entry],
      bundle: true,
      platform: 'neutral',
      format: 'esm',
      mainFields: ['module', 'main'],
      conditions: ['trpc-gateway-source'],
      plugins: [embedDocsPage],
      write: false,
      logLevel: 'silent',
    }).then(({ outputFiles: [file] }) => file?.text ?? '');
  bundles.set(entry, bundle);
  return bundle;
}

/** Without `enable_request_signal`, the signal of a request does not abort when its client leaves. */
const workerdConfig = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "bundle", esModule = embed "bundle.js")],
    compatibilityDate = "2026-07-01",
    compatibilityFlags = ["enable_request_signal"],
  ))],
  sockets = [(name = "http", http = (), service = "main")],
);
`;
