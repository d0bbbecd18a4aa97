import { Animal, NewPet, Pets } from '@petstore/core';
import { z } from 'zod';
import { Failure, invalid, malformed, notFound, nowhere, unauthorized } from '../petStore/failure.ts';
import { GetTexts, ListTexts } from '../petStore/schemas.ts';
import { findPet, listPets, store } from '../petStore/store.ts';

// Bun's own server, which checks and sends what the gateway does: Host, target, request id, key, input and output, and all
// headers. Without deadlines, records, limits of calls and the budget of a turn.

declare const Bun: { serve(options: object): unknown };

const newPet = z.compile(NewPet);
const pets = z.compile(Pets);
const pet = z.compile(Animal);
const keys = new Set([`Bearer ${process.env['API_KEY']}`]);
const always = {
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};
const plain = new Headers(always);
const deprecated = new Headers({
  ...always,
  deprecation: '@1795132800',
  sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  link: '</v1/pets>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"',
});
const validHost = /^[\w.-]+(?::\d{1,5})?$/;
const validId = /^[\w.~:+/=-]{1,128}$/;
const prefix = crypto.randomUUID();
let count = 0;

function send(received: Headers, result: unknown, { status = 200, headers = plain } = {}): Response {
  const id = received.get('x-request-id');
  headers.set('x-request-id', id !== null && validId.test(id) ? id : `${prefix}${(count += 1)}`);
  return new Response(JSON.stringify(result), {
    status: result instanceof Failure ? result.status : status,
    headers,
  });
}

async function create(request: Request): Promise<Response> {
  let input: unknown;
  try {
    input = await request.json();
  } catch {
    return send(request.headers, malformed);
  }
  const { data, error } = newPet.safeParse(input);
  if (error) return send(request.headers, invalid(error));
  const created = pet.parse(await store.create(data));
  const headers = new Headers(plain);
  headers.set('location', `/v1/pets/${created.id}`);
  return send(request.headers, created, { status: 201, headers });
}

function list(received: Headers, query: string): Response {
  const { data, error } = ListTexts.safeParse(Object.fromEntries(new URLSearchParams(query)));
  if (error) return send(received, invalid(error));
  const { records, hasNext } = listPets(data);
  if (!hasNext) return send(received, pets.parse(records));
  const headers = new Headers(plain);
  headers.set('link', `</v1/pets?limit=${data.limit}&cursor=${records.at(-1)?.id}>; rel="next"`);
  return send(received, pets.parse(records), { headers });
}

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env['PORT']),
  development: false,
  fetch(request: Request): Response | Promise<Response> {
    const { headers, method, url } = request;
    const target = url.slice(url.indexOf('/', 'http://'.length));
    if (target.length > 16_384 || !validHost.test(headers.get('host') ?? '') || headers.has('upgrade'))
      return send(headers, malformed);
    if (!keys.has(headers.get('authorization') ?? '')) return send(headers, unauthorized);
    const [path = '', query = ''] = target.split('?', 2);
    if (path === '/v1/pets') return method === 'POST' ? create(request) : list(headers, query);
    if (!path.startsWith('/v1/pets/')) return send(headers, nowhere);
    const { data, error } = GetTexts.safeParse({ petId: path.slice('/v1/pets/'.length) });
    if (error) return send(headers, invalid(error));
    const found = findPet(data.petId);
    return send(headers, found ? pet.parse(found) : notFound, { headers: deprecated });
  },
});
