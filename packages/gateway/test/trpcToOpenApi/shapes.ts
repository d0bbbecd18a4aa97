import { TRPCError } from '@trpc/server';
import type { RestMeta } from 'trpc-gateway/meta';
import { z } from 'zod';

/** A procedure as public routers have it. */
export interface Shape {
  readonly openapi: RestMeta & { readonly method: string; readonly path: string };
  /** Its `.input()` calls, in order. */
  readonly inputs: readonly z.ZodType[];
  readonly output: z.ZodType;
  /** What it returns, or a function that throws. */
  readonly result: unknown;
  /** Whether a middleware requires an `Authorization`. */
  readonly isProtected?: boolean;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const shape = (
  method: Method,
  path: `/${string}`,
  inputs: z.ZodType | readonly z.ZodType[],
  output: z.ZodType = z.unknown(),
  // A list, since `undefined` is a result too.
  ...results: readonly unknown[]
): Shape => ({
  openapi: { method, path },
  inputs: [inputs].flat(),
  output,
  result: results.length > 0 ? results[0] : { id: 1 },
});

/** A shape that strict conversion cannot serve, which stays as it is without the preset too. */
const lenient = (each: Shape): Shape => ({ ...each, openapi: { ...each.openapi, strictness: 'lenient' } });

const id = () => z.string().min(1);
const date = new Date('2026-01-02T03:04:05.678Z');

/** As in msgbyte/tianji: procedures of a workspace, whose id is in a first input, and webhooks with loose bodies. */
function monitoring(): Readonly<Record<string, Shape>> {
  const workspace = () => z.object({ workspaceId: z.string() });
  const monitor = () => z.object({ monitorId: z.cuid2() });
  const Monitor = z.object({
    id: z.string(),
    active: z.boolean(),
    createdAt: z.date(),
    note: z.string().nullable(),
  });
  const one = { id: 'a', active: true, createdAt: date, note: null, isSecret: true };
  const range = () => z.object({ startAt: z.number(), endAt: z.number(), unit: z.string().optional() });
  const filter = () => z.object({ url: z.string(), country: z.string(), os: z.string() }).partial();
  const at = '/workspace/{workspaceId}';
  return {
    all: shape('GET', `${at}/monitor/all`, workspace(), z.array(Monitor), [one]),
    get: shape('GET', `${at}/monitor/{monitorId}`, [workspace(), monitor()], Monitor.nullable(), null),
    upsert: shape(
      'POST',
      `${at}/monitor/upsert`,
      [
        workspace(),
        z.object({
          id: z.cuid2().optional(),
          name: z.string().max(100),
          active: z.boolean().default(true),
          interval: z.number().int().min(5).max(10_000).default(20),
          notificationIds: z.array(z.string()).default([]),
          payload: z.looseObject({}),
          trendingMode: z.boolean().optional(),
        }),
      ],
      Monitor,
      one,
    ),
    data: shape(
      'GET',
      `${at}/monitor/{monitorId}/data`,
      [workspace(), monitor().extend(range().shape)],
      z.array(z.object({ value: z.number(), createdAt: z.date() })),
      [{ value: 1, createdAt: date }],
    ),
    changeActive: shape('PATCH', `${at}/monitor/{monitorId}/changeActive`, [
      workspace(),
      z.object({ monitorId: z.string(), active: z.boolean() }),
    ]),
    recentData: shape('GET', `${at}/monitor/{monitorId}/recentData`, [
      workspace(),
      monitor().extend({ take: z.number() }),
    ]),
    events: shape('GET', `${at}/events`, [
      workspace(),
      z.object({ monitorId: z.cuid2().optional(), limit: z.number().default(20) }),
    ]),
    updateChannel: shape('POST', `${at}/feed/{channelId}/update`, [
      workspace(),
      z.object({
        channelId: z.string(),
        notificationIds: z.array(z.string()).default([]),
        name: z.string(),
        webhookSignature: z.string().optional(),
        notifyFrequency: z.enum(['none', 'event', 'day', 'week', 'month']),
      }),
    ]),
    eventsByCursor: shape(
      'GET',
      `${at}/feed/{channelId}/fetchEventsByCursor`,
      [
        workspace(),
        z.object({
          channelId: z.string(),
          limit: z.number().min(1).max(100).default(50),
          cursor: z.string().optional(),
          archived: z.boolean().default(false),
        }),
      ],
      z.object({ items: z.array(z.any()), nextCursor: z.string().optional() }),
      { items: [1], nextCursor: undefined },
    ),
    publicChannel: shape(
      'GET',
      '/feed/public/{shareId}/info',
      z.object({ shareId: z.string() }),
      z.unknown(),
      () => {
        throw new TRPCError({ code: 'NOT_FOUND', message: 'Channel not found' });
      },
    ),
    deleteChannel: shape('DELETE', `${at}/feed/{channelId}/del`, [
      workspace(),
      z.object({ channelId: z.string() }),
    ]),
    sendEvent: shape(
      'POST',
      '/feed/{channelId}/send',
      z.object({
        channelId: z.string(),
        eventName: z.string(),
        tags: z.array(z.string()).default([]),
        important: z.boolean(),
        payload: z.record(z.string(), z.any()).nullish(),
      }),
      z.unknown(),
      () => {
        throw new Error('Workspace is paused.');
      },
    ),
    archiveEvent: shape(
      'PATCH',
      `${at}/feed/{channelId}/{eventId}/archive`,
      [workspace(), z.object({ channelId: z.string(), eventId: z.string() })],
      z.void(),
      undefined,
    ),
    clearArchived: shape(
      'PATCH',
      `${at}/feed/{channelId}/clearAllArchivedEvents`,
      [workspace(), z.object({ channelId: z.string() })],
      z.number(),
      3,
    ),
    github: shape(
      'POST',
      '/feed/{channelId}/github',
      z.looseObject({ channelId: z.string() }),
      z.string(),
      'ok',
    ),
    playground: shape(
      'POST',
      '/playground/{workspaceId}',
      workspace().catchall(z.any()),
      z.string(),
      'success',
    ),
    surveyCount: shape('GET', `${at}/survey/counts`, workspace(), z.record(z.string(), z.number()), { a: 1 }),
    submitSurvey: shape(
      'POST',
      `${at}/survey/{surveyId}/submit`,
      z.object({ workspaceId: z.string(), surveyId: z.string(), payload: z.record(z.string(), z.any()) }),
      z.any(),
      undefined,
    ),
    createSurvey: shape('POST', `${at}/survey/create`, [
      workspace(),
      z.object({
        name: z.string(),
        payload: z.object({
          items: z.array(
            z.object({
              label: z.string(),
              type: z.enum(['text', 'select', 'email']),
              options: z.array(z.string()).optional(),
              required: z.boolean().optional(),
            }),
          ),
        }),
      }),
    ]),
    stats: shape('GET', `${at}/website/{websiteId}/stats`, [
      workspace(),
      z.object({ websiteId: z.string() }).extend(range().shape).extend(filter().shape),
    ]),
    metrics: shape('GET', `${at}/website/{websiteId}/metrics`, [
      workspace(),
      z.object({
        websiteId: z.string(),
        type: z.enum(['url', 'language', 'os']),
        startAt: z.number(),
        endAt: z.number(),
        event: z.string().optional(),
      }),
    ]),
    addWebsite: shape('POST', `${at}/website/add`, [
      workspace(),
      z.object({
        name: z.string().max(100),
        domain: z.union([
          z
            .string()
            .max(500)
            .regex(/^[a-z.]+$/),
          z.ipv4(),
        ]),
      }),
    ]),
    updateWebsite: shape('PUT', `${at}/website/{websiteId}/update`, [
      workspace(),
      z.object({ websiteId: z.string(), name: z.string().max(100), monitorId: z.cuid2().nullish() }),
    ]),
    config: shape('GET', '/global/config', z.void(), z.object({ allowRegister: z.boolean() }), {
      allowRegister: true,
    }),
    login: shape(
      'POST',
      '/login',
      z.object({ username: z.string(), password: z.string().min(4) }),
      z.object({ token: z.string() }),
      () => {
        throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Password error', cause: new Error('bcrypt') });
      },
    ),
  };
}

/** As in Dokploy/dokploy: metadata that a script generates, with the name of the procedure as its path. */
function deployments(): Readonly<Record<string, Shape>> {
  const application = () => z.object({ applicationId: id() });
  const Backup = z.object({
    schedule: z.string().min(1),
    enabled: z.boolean().optional(),
    prefix: z.string().min(1),
    keepLatestCount: z.number().nullish(),
    databaseType: z.enum(['postgres', 'mysql', 'web-server']),
    postgresId: z.string().optional(),
    metadata: z.any().optional(),
  });
  const ntfy = () =>
    z
      .object({
        appDeploy: z.boolean(),
        name: z.string(),
        serverUrl: z.string().min(1),
        priority: z.number().min(1),
        tags: z.array(z.string()),
      })
      .required();
  return {
    'application.one': shape('GET', '/application.one', application()),
    'application.create': shape(
      'POST',
      '/application.create',
      z.object({
        name: id(),
        appName: z
          .string()
          .min(1)
          .max(63)
          .regex(/^[a-z0-9-]+$/)
          .optional(),
        description: z.string().nullable().optional(),
        serverId: z.string().optional(),
      }),
      z.object({ applicationId: z.string() }),
      { applicationId: 'a' },
    ),
    'application.update': shape(
      'POST',
      '/application.update',
      application().extend({
        replicas: z.number().optional(),
        memoryLimit: z.string().nullish(),
        buildType: z.enum(['dockerfile', 'nixpacks']).optional(),
        isPreviewActive: z.boolean().nullish(),
        labels: z.record(z.string(), z.string()).nullish(),
        restartPolicy: z
          .object({ condition: z.string().optional(), delay: z.number().optional() })
          .strict()
          .nullish(),
      }),
      z.boolean(),
      true,
    ),
    'application.deploy': shape(
      'POST',
      '/application.deploy',
      application().extend({ title: z.string().optional() }),
    ),
    'application.stop': shape('POST', '/application.stop', application(), z.any(), undefined),
    'backup.create': shape('POST', '/backup.create', Backup, z.void(), undefined),
    'backup.update': shape('POST', '/backup.update', Backup.partial().extend({ backupId: id() })),
    'backup.listBackupFiles': shape(
      'GET',
      '/backup.listBackupFiles',
      z.object({ destinationId: z.string(), search: z.string(), serverId: z.string().optional() }),
      z.array(z.object({ Path: z.string(), IsDir: z.boolean() })),
      [{ Path: '/', IsDir: true }],
    ),
    'notification.createNtfy': shape('POST', '/notification.createNtfy', ntfy(), z.unknown(), () => {
      throw new TRPCError({
        code: 'BAD_REQUEST',
        message: 'Error creating the notification',
        cause: new Error('x'),
      });
    }),
    'notification.updateNtfy': shape(
      'POST',
      '/notification.updateNtfy',
      ntfy().partial().extend({ ntfyId: id() }),
    ),
    'notification.receive': shape(
      'POST',
      '/notification.receive',
      z.object({
        ServerType: z.enum(['Dokploy', 'Remote']).default('Dokploy'),
        Value: z.number(),
        Token: z.string(),
      }),
    ),
    'domain.create': shape(
      'POST',
      '/domain.create',
      z
        .object({
          host: z.string().min(1),
          https: z.boolean(),
          port: z.number().min(1).max(65_535).optional(),
          certificateType: z.enum(['letsencrypt', 'none', 'custom']).optional(),
        })
        .superRefine((input, context) => {
          if (input.https && !input.certificateType) {
            context.addIssue({ code: 'custom', path: ['certificateType'], message: 'Required' });
          }
        }),
    ),
    'mount.create': shape(
      'POST',
      '/mount.create',
      z.object({
        type: z.enum(['bind', 'volume']),
        filePath: z.string().transform((text) => text.trim()),
        content: z.string().nullable().default(null),
      }),
    ),
    'schedule.create': shape(
      'POST',
      '/schedule.create',
      z.object({
        cron: z.string(),
        target: z.discriminatedUnion('type', [
          z.object({ type: z.literal('server'), serverId: z.string(), minutes: z.number() }),
          z.object({ type: z.literal('application'), applicationId: z.string(), enabled: z.boolean() }),
        ]),
      }),
    ),
    'docker.getContainers': shape(
      'GET',
      '/docker.getContainers',
      z.object({ serverId: z.string().optional() }),
    ),
    'project.search': shape(
      'GET',
      '/project.search',
      z.object({
        q: z.string().optional(),
        limit: z.number().min(1).max(100).default(20),
        offset: z.number().min(0).default(0),
      }),
      z.object({ items: z.array(z.unknown()), total: z.number() }),
      { items: [], total: 0 },
    ),
    'project.coerced': shape(
      'GET',
      '/project.coerced',
      z.object({ limit: z.coerce.number().min(1).default(20), since: z.coerce.date().optional() }),
    ),
    'server.count': shape('GET', '/server.count', z.void(), z.number(), 3),
    'server.remove': shape(
      'DELETE',
      '/server.remove',
      z.object({ serverId: z.string(), force: z.boolean().optional() }),
    ),
    'tag.find': shape(
      'GET',
      '/tag.find',
      z.object({
        tagIds: z.array(z.string()).default([]),
        colors: z.array(z.string()).nullable().optional(),
      }),
    ),
    'tag.bulkAssign': shape(
      'POST',
      '/tag.bulkAssign',
      z.object({ projectId: id(), tagIds: z.array(id()).max(50) }),
    ),
    'port.create': shape(
      'POST',
      '/port.create',
      z.object({
        publishedPort: z.number(),
        protocol: z.enum(['tcp', 'udp']).default('tcp'),
        mode: z.literal('host'),
      }),
    ),
  };
}

/** As in karakeep-app/karakeep: shared schemas with intersections, refinements and whole inputs with a default. */
function bookmarks(): Readonly<Record<string, Shape>> {
  const url = () => z.url().refine((text) => text.startsWith('http'), { message: 'Only http and https' });
  const Bookmark = z.object({
    id: z.string(),
    createdAt: z.date(),
    modifiedAt: z.date().nullable(),
    title: z.string().nullish(),
    content: z.discriminatedUnion('type', [
      z.object({ type: z.literal('link'), url: z.string(), crawledAt: z.date().nullish() }),
      z.object({ type: z.literal('text'), text: z.string() }),
    ]),
  });
  const link = { type: 'link', url: 'https://a.example', crawledAt: date };
  const saved = { id: 'a', createdAt: date, modifiedAt: null, content: link };
  interface Rule {
    readonly type: string;
    readonly weight: number;
    readonly any?: readonly Rule[] | undefined;
  }
  const rule: z.ZodType<Rule> = z.object({
    type: z.string(),
    weight: z.number(),
    get any() {
      return z.array(rule).optional();
    },
  });
  const sort = z.object({ sortBy: z.enum(['name', 'usage']).default('usage'), limit: z.int().optional() });
  return {
    create: shape(
      'POST',
      '/bookmarks',
      z.object({
        archived: z.boolean().optional(),
        bookmark: z.intersection(
          z.object({ title: z.string().max(1000).nullish(), favourited: z.boolean().optional() }),
          z.discriminatedUnion('type', [
            z.object({ type: z.literal('link'), url: url(), priority: z.number().optional() }),
            z.object({ type: z.literal('text'), text: z.string() }),
          ]),
        ),
      }),
      Bookmark,
      saved,
    ),
    list: shape(
      'GET',
      '/bookmarks',
      z.object({
        archived: z.boolean().optional(),
        tagId: z.string().optional(),
        limit: z.number().int().min(1).max(100).optional(),
        cursor: z.string().nullish(),
        sortOrder: z.enum(['asc', 'desc']).optional().default('desc'),
        includeContent: z.boolean().optional().default(false),
      }),
      z.object({ bookmarks: z.array(Bookmark), nextCursor: z.string().nullable() }),
      { bookmarks: [saved], nextCursor: null },
    ),
    update: shape(
      'PATCH',
      '/bookmarks/{bookmarkId}',
      z.object({
        bookmarkId: z.string(),
        favourited: z.boolean().optional(),
        summary: z.string().nullish(),
        createdAt: z.coerce.date().optional(),
        datePublished: z.date().nullish(),
        url: url().optional(),
      }),
      Bookmark,
      saved,
    ),
    search: shape(
      'POST',
      '/bookmarks/search',
      z.object({
        text: z.string(),
        limit: z.number().int().min(1).max(100).optional(),
        cursor: z.discriminatedUnion('ver', [z.object({ ver: z.literal(1), offset: z.number() })]).nullish(),
        sortOrder: z.enum(['asc', 'desc', 'relevance']).optional().default('relevance'),
        includeContent: z.boolean().optional().default(false),
      }),
    ),
    attachTags: shape(
      'PUT',
      '/bookmarks/{bookmarkId}/tags',
      z.object({
        bookmarkId: z.string(),
        attach: z.array(
          z
            .object({
              tagId: z.string().optional(),
              tagName: z.string().optional(),
              attachedBy: z.enum(['ai', 'human']).optional().default('human'),
              score: z.number().optional(),
            })
            .refine(({ tagId, tagName }) => Boolean(tagId) || Boolean(tagName), {
              message: 'You must provide either a tagId or a tagName',
              path: ['tagId', 'tagName'],
            }),
        ),
        detach: z.array(z.object({ tagId: z.string() })).default([]),
      }),
    ),
    listTags: shape('POST', '/tags/list', sort.optional().default({ sortBy: 'usage' })),
    mergeTags: shape(
      'POST',
      '/tags/merge',
      z.object({ intoTagId: z.string(), fromTagIds: z.array(z.string()).min(1) }),
    ),
    createList: shape(
      'POST',
      '/lists',
      z
        .object({
          name: z.string().min(1).max(100),
          icon: z.string(),
          type: z.enum(['manual', 'smart']).default('manual'),
          query: z.string().min(1).optional(),
          parentId: z.string().nullish(),
        })
        .refine(({ type, query }) => type === 'manual' || query !== undefined, { path: ['query'] }),
    ),
    signUp: shape(
      'POST',
      '/users',
      z.object({
        name: z.string().trim().min(1),
        email: z.email().toLowerCase(),
        password: z.preprocess(
          (value) => (typeof value === 'string' ? value.trim() : value),
          z.string().min(8),
        ),
      }),
    ),
    listUsers: shape(
      'GET',
      '/users',
      z.object({}),
      z.object({ users: z.array(z.object({ id: z.string(), emailVerified: z.date().nullable() })) }),
      { users: [{ id: 'a', emailVerified: null }] },
    ),
    updateUser: shape(
      'PATCH',
      '/users/{userId}',
      z.object({
        userId: z.string(),
        role: z.enum(['user', 'admin']).optional(),
        bookmarkQuota: z.number().int().min(0).nullable().optional(),
        browserCrawlingEnabled: z.boolean().nullable().optional(),
      }),
      z.void(),
      undefined,
    ),
    createHighlight: shape(
      'POST',
      '/highlights',
      z.object({
        bookmarkId: z.string(),
        startOffset: z.number(),
        endOffset: z.number(),
        color: z.enum(['yellow', 'red']).default('yellow'),
        text: z.string().nullable(),
      }),
    ),
    createRule: shape(
      'POST',
      '/rules',
      z.object({ name: z.string(), enabled: z.boolean(), condition: rule }),
    ),
    createFeed: shape('POST', '/feeds', z.object({ url: z.url().max(500), enabled: z.boolean().optional() })),
    createWebhook: shape(
      'POST',
      '/webhooks',
      z.object({
        url: z.url(),
        events: z.array(z.enum(['created', 'edited'])).min(1),
        token: z.string().nullish(),
      }),
    ),
    stats: shape('GET', '/admin/stats', z.object({ days: z.number().int().default(30) }).optional()),
  };
}

/** As in blinkospace/blinko: a REST API whose lists are mutations, with unions that have null, and optional defaults. */
function notes(): Readonly<Record<string, Shape>> {
  return {
    list: shape(
      'POST',
      '/v1/note/list',
      z.object({
        tagId: z.union([z.number(), z.null()]).default(null),
        page: z.number().default(1),
        type: z.union([z.enum({ Blinko: 0, Note: 1 }), z.literal(-1)]).default(-1),
        isArchived: z.union([z.boolean(), z.null()]).default(false).optional(),
        isRecycle: z.boolean().default(false).optional(),
        searchText: z.string().default('').optional(),
        startDate: z.union([z.date(), z.null(), z.string()]).default(null).optional(),
      }),
    ),
    publicList: shape(
      'POST',
      '/v1/note/public-list',
      z.object({ page: z.number().optional().default(1), searchText: z.string().optional().default('') }),
    ),
    listByIds: shape('POST', '/v1/note/list-by-ids', z.object({ ids: z.array(z.number()) })),
    share: shape(
      'POST',
      '/v1/note/share',
      z.object({ id: z.number(), isCancel: z.boolean().default(false), expireAt: z.date().optional() }),
    ),
    upsert: shape(
      'POST',
      '/v1/note/upsert',
      z.object({
        content: z.union([z.string(), z.null()]).default(null),
        id: z.number().optional(),
        attachments: z
          .array(z.object({ name: z.string(), size: z.union([z.number(), z.string()]) }))
          .default([]),
        createdAt: z.string().optional(),
        metadata: z.any().optional(),
      }),
    ),
    dailyReview: shape('GET', '/v1/note/daily-review-list', z.void(), z.array(z.unknown()), []),
    updateConfig: shape(
      'POST',
      '/v1/config/update',
      z.object({ key: z.any(), value: z.any() }),
      z.any(),
      null,
    ),
    follows: shape('GET', '/v1/follows/list', z.object({ searchText: z.string().default('') }).optional()),
    me: {
      ...shape('GET', '/v1/user/me', z.object({ verbose: z.boolean().optional() })),
      isProtected: true,
    },
    remove: {
      ...shape('DELETE', '/v1/user/{id}', z.object({ id: z.number() }), z.boolean(), true),
      isProtected: true,
    },
  };
}

/** Each conversion of trpc-to-openapi, in each place. */
function conversions(): Readonly<Record<string, Shape>> {
  const number = z.number().optional();
  const scalars = () => ({
    n: z.number().optional(),
    int: z.int().min(0).nullish(),
    b: z.boolean().optional(),
    big: z.bigint().optional(),
    date: z.date().nullable().optional(),
    withDefault: z.number().default(7),
    lazy: z.lazy(() => number),
    list: z.array(z.number()).optional(),
    texts: z.array(z.string()).optional(),
    text: z.string().optional(),
    literal: z.literal('5').optional(),
    doubled: z
      .string()
      .transform((value) => value + value)
      .optional(),
    preprocessed: z.preprocess((value) => value, z.string().optional()),
  });
  return {
    query: lenient(shape('GET', '/scalars', z.object(scalars()))),
    body: lenient(shape('POST', '/scalars', z.object(scalars()))),
    path: lenient(shape('DELETE', '/scalars/{n}', z.object({ ...scalars(), n: z.number() }))),
    required: shape('GET', '/required', z.object({ b: z.boolean(), n: z.number(), date: z.date() })),
    int: shape('PUT', '/int/{id}', z.object({ id: z.int(), b: z.boolean() })),
    deep: shape(
      'POST',
      '/deep',
      z.object({
        nested: z.object({
          n: z.number(),
          b: z.boolean(),
          more: z.object({ date: z.date().optional() }).optional(),
        }),
        list: z.array(z.object({ n: z.number().prefault(3) })).optional(),
        union: z.union([z.number(), z.boolean(), z.null()]).optional(),
        dateOrText: z.union([z.date(), z.string()]).optional(),
        record: z.record(z.string(), z.number()).optional(),
        both: z.intersection(z.object({ n: z.number() }), z.object({ m: z.number() })).optional(),
        piped: z
          .number()
          .transform((value) => value + 1)
          .optional(),
        readonly: z.number().readonly().optional(),
        caught: z.number().catch(9),
      }),
    ),
    optional: shape('POST', '/optional', z.object({ n: z.number().optional() }).nullish()),
    whole: shape(
      'POST',
      '/whole',
      z.object({ n: z.number() }).transform((value) => ({ ...value, isWhole: true })),
    ),
    loose: shape('GET', '/loose', z.looseObject({ n: z.number().optional() })),
    pathList: lenient(
      shape(
        'GET',
        '/path/{list}/{text}',
        z.object({ list: z.array(z.string()), text: z.string().default('') }),
      ),
    ),
    strict: shape('GET', '/strict', z.strictObject({ n: z.number() })),
    find: shape('GET', '/pets/{id}', z.object({ id: z.string() }), z.string(), 'one'),
    mine: shape('GET', '/pets/mine', z.object({}), z.string(), 'mine'),
  };
}

/** An error of an application, which the error formatter of the router reads. */
export class AppError extends Error {
  readonly kind: string;
  constructor(kind: string) {
    super(`The document is ${kind}.`);
    this.kind = kind;
  }
}

/** As in documenso/documenso and others: what procedures throw. */
function failures(): Readonly<Record<string, Shape>> {
  const thrown: Readonly<Record<string, () => unknown>> = {
    expected: () => new TRPCError({ code: 'CONFLICT', message: 'Rex is taken.' }),
    caused: () => new TRPCError({ code: 'NOT_FOUND', message: 'Rex is gone.', cause: new Error('select 1') }),
    unnamed: () => new TRPCError({ code: 'BAD_GATEWAY', cause: new Error('select 1') }),
    plain: () => new Error('Your plan has expired.'),
    text: () => 'oops',
    app: () => new AppError('locked'),
    wrapped: () => new TRPCError({ code: 'FORBIDDEN', cause: new AppError('hidden') }),
    issues: () => new TRPCError({ code: 'BAD_REQUEST', cause: z.string().safeParse(5).error }),
    timeout: () => new TRPCError({ code: 'TIMEOUT', message: 'It took too long.' }),
    unprocessable: () => new TRPCError({ code: 'UNPROCESSABLE_CONTENT', message: 'It makes no sense.' }),
    tooMany: () => new TRPCError({ code: 'TOO_MANY_REQUESTS', message: 'Too many.' }),
    notImplemented: () => new TRPCError({ code: 'NOT_IMPLEMENTED' }),
    payment: () => new TRPCError({ code: 'PAYMENT_REQUIRED', message: 'Pay first.' }),
  };
  const shapes = Object.entries(thrown).map(([name, error]) => {
    const fail = () => {
      throw error();
    };
    return [name, shape('POST', `/fail/${name}`, z.object({ id: z.number() }), z.object({}), fail)] as const;
  });
  const invalid = z.object({ id: z.string(), at: z.date() });
  return { ...Object.fromEntries(shapes), output: shape('GET', '/fail/output', z.object({}), invalid, {}) };
}

/** Creates the routers' shapes, by the names of the router and of the procedure. */
export const createShapes = () => ({
  monitoring: monitoring(),
  deployments: deployments(),
  bookmarks: bookmarks(),
  notes: notes(),
  conversions: conversions(),
  failures: failures(),
});
