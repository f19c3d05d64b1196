-- The language server in Neovim, without a screen: CUVEE=... nvim --headless -u NONE -l neovim.lua, or with 0.7 -c 'luafile neovim.lua'.
-- Opens the shop with a mistake, sees it, completes, renames, and sees that the mistake is gone. Ends with 1 where something is otherwise.

local cuvee = os.getenv('CUVEE') or 'cuvee'
local function fail(why)
  io.stderr:write(why .. '\n')
  vim.cmd('cquit 1')
end
local function wait(what, is_so)
  if not vim.wait(30000, is_so, 20) then fail('not seen: ' .. what) end
end

vim.cmd('edit ' .. vim.fn.fnameescape(arg and arg[1] or os.getenv('TEMPLATE')))
local buffer = vim.api.nvim_get_current_buf()
local client = vim.lsp.start_client({ name = 'cuvee', cmd = { cuvee, 'lsp' }, root_dir = vim.fn.getcwd() })
vim.lsp.buf_attach_client(buffer, client)
wait('the server', function() return vim.lsp.get_client_by_id(client) ~= nil and vim.lsp.get_client_by_id(client).initialized end)

local line = vim.fn.search('type: shop.nodes.Cache$')
if line == 0 then fail('the shop has no cache') end
local text = vim.fn.getline(line)
vim.fn.setline(line, (text:gsub('Cache$', 'Cach')))
-- What no variant has is shown paler, and is no mistake.
local function mistakes() return vim.diagnostic.get(buffer, { severity = { min = vim.diagnostic.severity.INFO } }) end
wait('a mistake', function() return #mistakes() == 1 end)
if mistakes()[1].lnum ~= line - 1 then fail('the mistake is elsewhere') end

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 30000)
  local answer = answers and answers[client]
  if not answer or answer.err or not answer.result then fail(method .. ': ' .. vim.inspect(answer)) end
  return answer.result
end
vim.fn.cursor(line, #vim.fn.getline(line))
local offered = {}
for _, item in ipairs(ask('textDocument/completion', vim.lsp.util.make_position_params()).items) do offered[item.label] = true end
if not offered['shop.nodes.Cache'] then fail('the cache is not offered') end

vim.fn.setline(line, text)
wait('no mistake', function() return #mistakes() == 0 end)
local node = vim.fn.search('^    cache:')
vim.fn.cursor(node, 6)
local params = vim.lsp.util.make_position_params()
params.newName = 'store'
vim.lsp.util.apply_workspace_edit(ask('textDocument/rename', params), 'utf-16')
if vim.fn.search('^    store:') == 0 then fail('the cache was not renamed') end
wait('no mistake after renaming', function() return #mistakes() == 0 end)
vim.cmd('qall!')
