import { fileURLToPath } from 'node:url';
import type { UIMessageChunk } from 'ai';
import { build } from 'esbuild';
import { createGateway, custom, type HttpRequest, type HttpResponse } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { RunOptions, StartContext, Started } from 'trpc-gateway-runtime';
import { resumable } from 'trpc-gateway-shared';
import { folderEventLog } from 'trpc-gateway-shared/events/folder';
import { log } from 'trpc-gateway-runtime/log';
import { z } from 'zod';
import { SlowModel } from './model.ts';
import { answerPage } from './answerPage.ts';
import outputs from './outputs.json' with { type: 'json' };
import { answersRouter } from './router.ts';

/** The users of the example, by their names and passwords (RFC 7617). */
const users = new Map([
  [btoa('ada:demo'), 'ada'],
  [btoa('ben:demo'), 'ben'],
]);
const challenge = 'Basic realm="answers", charset="UTF-8"';

export interface AnswersOptions {
  readonly port: number;
  /** The folder of the event log. */
  readonly dataDir: string;
  /** How long the model takes for a word, in milliseconds. */
  readonly wordMs: number;
}

/** Returns the options of `run` for a service of four processes, each of which can continue every answer. */
export const answersService = (options: AnswersOptions): RunOptions => ({
  listen: { port: options.port },
  log: log({ requests: 'errors' }),
  workers: 4,
  start: (context) => start(options, context),
});

async function start(
  { dataDir, wordMs }: AnswersOptions,
  { log: serviceLog, onClose, options }: StartContext,
): Promise<Started> {
  const events = folderEventLog({ path: dataDir });
  onClose(() => events.close());
  const onError = (error: unknown, key: string) => serviceLog.error({ err: error, key }, 'an answer failed');
  const answers = resumable({ log: events, name: 'answers', event: z.string(), onError });
  onClose(() => answers.close());
  const chats = resumable({ log: events, name: 'chats', event: z.custom<UIMessageChunk>(), onError });
  onClose(() => chats.close());
  const model = new SlowModel(wordMs, serviceLog);
  let script: Promise<string> | undefined;
  const gateway = await createGateway({
    ...options,
    router: answersRouter,
    // What the events are: the AI SDK has types of its chunks, and no schema.
    outputs,
    document: { title: 'Answers', version: '1.0.0' },
    mcp: mcp(),
    authentication: custom({
      name: 'basic',
      read: (source) => source.header('authorization')?.match(/^Basic +(\S+)$/i)?.[1],
      verify: (credential) => users.get(credential),
      challenge,
      document: { type: 'http', scheme: 'basic' },
    }),
    // Each new answer calls the model.
    rateLimit: { calls: 600, windowMs: 60_000 },
    createContext: ({ identity }) => ({ answers, chats, model, user: identity }),
    routes: {
      ...options.routes,
      '/': (request) => html(request, answerPage),
      '/chat': (request) => html(request, chatPage),
      '/chat.js': async () => respond('text/javascript', await (script ??= chatScript())),
    },
  });
  return { gateway };
}

const chatPage = `<!doctype html>
<html lang="en">
<title>Chat</title>
<link rel="icon" href="data:,">
<main></main>
<script src="/chat.js"></script>
</html>`;

/** A page, for which the browser asks for the credential that it then sends with each request. */
const html = (request: HttpRequest, page: string): HttpResponse =>
  request.hasHeader('authorization')
    ? respond('text/html; charset=utf-8', page)
    : { status: 401, headers: [['www-authenticate', challenge]] };

const respond = (type: string, body: string): HttpResponse => ({
  status: 200,
  headers: [['content-type', type]],
  body,
});

/** Bundles the page of the chat. */
async function chatScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('chat/page.tsx', import.meta.url))],
    bundle: true,
    write: false,
    jsx: 'automatic',
    conditions: ['trpc-gateway-source'],
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return outputFiles[0]?.text ?? '';
}
