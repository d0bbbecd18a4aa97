import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AnyTRPCRouter } from '@trpc/server';
import type { Problem } from '../checks/gatewayError.ts';
import { listNames } from '../http/warnings.ts';
import { isWithoutTransformer } from '../protocols/trpc/routerConfig.ts';
import type { Reason, Served } from './served.ts';

/** What `trpc-gateway serve` has started. */
interface Started {
  readonly router: AnyTRPCRouter;
  readonly served: Served;
  /** What `createGateway` rejects. */
  readonly leftOut: readonly Problem[];
  /** The module of the router, as the user has named it. */
  readonly file: string;
  readonly origin: string;
  readonly hasDocsPage: boolean;
  readonly hasWebSockets: boolean;
  readonly hasContext: boolean;
  /** Whether the types of outputs are being read. */
  readonly readsTypes: boolean;
  /** The lines of the table of tokens, with `--tools`. */
  readonly toolCosts: readonly string[];
}

/** The readme of this package, as installed. */
const readme = relative('', fileURLToPath(new URL('../../README.md', import.meta.url)));

/** Returns the text that `trpc-gateway serve` prints: where it listens, what it serves, leaves out, and what differs. */
export function serveReport(started: Started): string {
  const { file, hasContext, hasDocsPage, hasWebSockets, origin, router, served } = started;
  const notRest = reasonsLeftOut(started, 'rest');
  const notTools = reasonsLeftOut(started, 'mcp');
  const { count } = served;
  const without = (reasons: readonly Reason[]) => count - new Set(reasons.map(([path]) => path)).size;
  const urls = [
    [
      'tRPC',
      `${origin}/trpc`,
      `${countOf(count, 'procedure')}, ${hasWebSockets ? 'also' : 'not'} over WebSockets`,
    ],
    ['REST', `${origin}/v1`, countOf(without(notRest), 'operation')],
    ['MCP', `${origin}/mcp`, countOf(without(notTools), 'tool')],
    ['OpenAPI', `${origin}/openapi.json`, ''],
    ['Docs', ...(hasDocsPage ? [`${origin}/docs`, ''] : ['none: install trpc-gateway-runtime', ''])],
  ] as const;
  const width = Math.max(...urls.map(([, url = '']) => url.length));
  return [
    `Serving ${file}. For looking, moving and demonstrations, not for production.`,
    '',
    ...urls.map(([name, url = '', what]) => `  ${name.padEnd(7)}  ${url.padEnd(width)}  ${what}`.trimEnd()),
    ...leftOutLines('REST', notRest),
    ...leftOutLines('MCP', notTools),
    '',
    'What differs from tRPC’s adapters:',
    ...trpcDifferences(router).map((line) => `  - ${line}`),
    ...(hasContext ? [] : ['  - Without --context, the context of procedures is {}.']),
    '  All of it: docs/gateway/trpc.md in the repository of trpc-gateway.',
    ...(served.hasRestMetadata ? presetLines : defaultLines(started)),
    ...started.toolCosts,
    '',
    `A server of your own: ${readme}`,
    '',
  ].join('\n');
}

const countOf = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Returns why procedures are not served over REST, or as tools. */
function reasonsLeftOut({ leftOut, served }: Started, part: 'rest' | 'mcp'): readonly Reason[] {
  const rejected = leftOut
    .filter((problem) => problem.part === part || problem.part === 'metadata')
    .map(({ procedure, line }): Reason => {
      const reason = line.replace(/^Procedure "[^"]*"(?: cannot be (?:served over REST|a tool))?: /, '');
      return [procedure, reason];
    });
  return [...served.leftOut[part], ...rejected];
}

function leftOutLines(protocol: string, reasons: readonly Reason[]): readonly string[] {
  if (reasons.length === 0) return [];
  const same = Map.groupBy(reasons, ([, reason]) => reason);
  const lines = Array.from(same, ([reason, entries]) => {
    const names = listNames(entries.map(([path]) => path));
    return `  - ${entries.length > 1 ? `${entries.length}: ` : ''}${names}: ${reason}`;
  });
  return ['', `Left out of ${protocol}, but served over tRPC:`, ...lines];
}

function trpcDifferences({ _def: { _config: config } }: AnyTRPCRouter): readonly string[] {
  return [
    `Unexpected errors have the message of their code${config.isDev ? ', and no error has a stack' : ''} (maskUnexpectedErrors: false sends them).`,
    'A body has at most 1 MiB (maxBodySize), a batch over HTTP at most 1,000 calls (maxInFlight).',
    'Forms and WebSockets of pages of other sites are 403 if they send cookies (cors.origins).',
  ];
}

/** What differs over REST and MCP, for a router without metadata. */
function defaultLines({ readsTypes, router, served: { count, untyped } }: Started): readonly string[] {
  return [
    '',
    'What differs over REST and MCP:',
    '  - No metadata chooses what is served: in your own server, openapi: true and mcp({ tools }) do.',
    ...(isWithoutTransformer(router._def._config)
      ? []
      : [
          '  - They send JSON, without the router’s transformer: a date is text, a Map is {}, a bigint is an error.',
        ]),
    ...(untyped === 0
      ? []
      : [
          `  - ${untyped} of ${countOf(count, 'procedure')} have no output schema (.output): ${readsTypes ? 'their types are being read.' : 'the document and the tools have no types of what they return, which trpc-gateway-typegen reads.'}`,
        ]),
  ];
}

/** What differs from trpc-to-openapi, whose metadata a router has. */
const presetLines: readonly string[] = [
  '',
  'What differs over REST from trpc-to-openapi 3.3, as served by the preset trpcToOpenApi():',
  '  - Paths begin with /v1 (restBasePath). The rest: docs/migrating/from-trpc-to-openapi.md there, "Differences that remain".',
];
