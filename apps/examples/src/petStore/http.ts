// A client of the REST protocol, typed by the OpenAPI document. `npm run example http`
import type { paths } from '@petstore/types/openapi';
import createClient from 'openapi-fetch';

const { PETSTORE_URL = 'http://127.0.0.1:3000', KEY } = process.env;

const { GET, POST } = createClient<paths>({
  baseUrl: `${PETSTORE_URL}/v1`,
  headers: { authorization: `Bearer ${KEY}` },
});

for (const name of ['Rex', 'Bella', 'Max']) {
  const { data: animal, response } = await POST('/pets', { body: { name, categoryId: 1 } });
  console.log(`added ${animal?.name}: ${response.status} ${response.headers.get('location')}`);
}

// A page that has a successor links to it (RFC 8288).
let cursor: number | undefined;
do {
  const query = { limit: 2, ...(cursor !== undefined && { cursor }) };
  const { data = [], response } = await GET('/pets', { params: { query } });
  console.log(`page: ${data.map(({ name }) => name).join(', ')}`);
  cursor = response.headers.get('link')?.includes('rel="next"') ? data.at(-1)?.id : undefined;
} while (cursor !== undefined);

// What is not 2xx is an error, `{ code, message, status }`, of the statuses that the document names.
const { error } = await GET('/pets', { params: { query: { limit: 1000 } } });
console.log(`${error?.status} ${error?.code}: ${error?.message}`);
