import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AnyTRPCRouter } from '@trpc/server';
import type { Problem } from '../checks/gatewayError.ts';
import { listNames } from '../http/warnings.ts';
import { isWithoutTransformer } from '../protocols/trpc/routerConfig.ts';
import type { Served } from './served.ts';

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
  readonly hasContext: boolean;
}

/** The readme of this package, as installed. */
const readme = relative('', fileURLToPath(new URL('../../README.md', import.meta.url)));

/** Returns the text that `trpc-gateway serve` prints: where it listens, what it serves, leaves out, and what differs. */
export function serveReport(started: Started): string {
  const { file, hasContext, hasDocsPage, origin, router, served } = started;
  const reasons = reasonsLeftOut(started);
  const { length } = served.procedures;
  const count = (protocol: keyof typeof reasons) => length - reasons[protocol].size;
  const urls = [
    ['tRPC', `${origin}/trpc`, `${countOf(length, 'procedure')}, also over WebSockets`],
    ['REST', `${origin}/v1`, countOf(count('REST'), 'operation')],
    ['MCP', `${origin}/mcp`, countOf(count('MCP'), 'tool')],
    ['OpenAPI', `${origin}/openapi.json`, ''],
    ['Docs', ...(hasDocsPage ? [`${origin}/docs`, ''] : ['none: install trpc-gateway-runtime', ''])],
  ] as const;
  const width = Math.max(...urls.map(([, url = '']) => url.length));
  return [
    `Serving ${file}. For looking, moving and demonstrations, not for production.`,
    '',
    ...urls.map(([name, url = '', what]) => `  ${name.padEnd(7)}  ${url.padEnd(width)}  ${what}`.trimEnd()),
    ...Object.entries(reasons).flatMap(([protocol, found]) => leftOutLines(protocol, found)),
    '',
    'What differs from tRPC’s adapters:',
    ...trpcDifferences(router).map((line) => `  - ${line}`),
    ...(hasContext ? [] : ['  - Without --context, the context of procedures is {}.']),
    '  All of it: docs/gateway/trpc.md in the repository of trpc-gateway.',
    ...(served.hasRestMetadata ? presetLines : defaultLines(router, served)),
    '',
    `A server of your own: ${readme}`,
    '',
  ].join('\n');
}

const countOf = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Returns why procedures are not served, by their path, for both protocols. */
function reasonsLeftOut({ leftOut, served }: Started) {
  const reasons = { REST: new Map<string, string>(), MCP: new Map<string, string>() };
  for (const { path, notRest, notTool } of served.procedures) {
    if (notRest !== undefined) reasons.REST.set(path, notRest);
    if (notTool !== undefined) reasons.MCP.set(path, notTool);
  }
  for (const { procedure, part, line } of leftOut) {
    const reason = line.replace(/^Procedure "[^"]*"(?: cannot be (?:served over REST|a tool))?: /, '');
    if (part !== 'mcp' && !reasons.REST.has(procedure)) reasons.REST.set(procedure, reason);
    if (part !== 'rest' && !reasons.MCP.has(procedure)) reasons.MCP.set(procedure, reason);
  }
  return reasons;
}

/** Returns a line for each reason, with the procedures that have it. */
function leftOutLines(protocol: string, reasons: ReadonlyMap<string, string>): readonly string[] {
  if (reasons.size === 0) return [];
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
    'A batch over HTTP has at most 100 calls (trpc.maxBatchSize), a body at most 1 MiB (maxBodySize).',
    'Forms and WebSockets of pages of other sites are 403 if they send cookies (cors.origins).',
  ];
}

/** What differs over REST and MCP, for a router without metadata. */
function defaultLines(
  { _def: { _config: config } }: AnyTRPCRouter,
  { procedures }: Served,
): readonly string[] {
  const untyped = procedures.filter(({ hasOutput }) => !hasOutput).length;
  return [
    '',
    'What differs over REST and MCP:',
    '  - No metadata chooses what is served: in your own server, openapi: true and mcp({ tools }) do.',
    ...(isWithoutTransformer(config)
      ? []
      : [
          '  - They send JSON, without the router’s transformer: a date is text, a Map is {}, a bigint is an error.',
        ]),
    ...(untyped === 0
      ? []
      : [
          `  - ${untyped} of ${countOf(procedures.length, 'procedure')} have no output schema (.output): the document and the tools have no types of what they return.`,
        ]),
  ];
}

/** What differs from trpc-to-openapi, whose metadata a router has. */
const presetLines: readonly string[] = [
  '',
  'What differs over REST from trpc-to-openapi 3.3, as served by the preset trpcToOpenApi():',
  '  - Paths begin with /v1 (restBasePath). The rest: docs/migrating/from-trpc-to-openapi.md there, "Differences that remain".',
];
