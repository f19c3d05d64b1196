"""The language server as a typed client of others meets it: `tests/outside/editor/run` calls this with CUVEE as the path of the command.

The client reads every message by the types of the protocol, and fails where one does not fit.
"""

import asyncio
import os
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

CUVEE = os.environ.get("CUVEE", "cuvee")
SHOP = Path(__file__).parents[3] / "examples/shop/variable-service-template.yaml"


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[CUVEE, "lsp"]))
async def client(lsp_client: LanguageClient):
    capabilities = pytest_lsp.client_capabilities("visual-studio-code")
    # Of an editor that does not ask, the server tells what it finds.
    capabilities.text_document.diagnostic = None
    await lsp_client.initialize_session(types.InitializeParams(capabilities=capabilities, root_uri=SHOP.parent.as_uri()))
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[CUVEE, "lsp"]))
async def asking(lsp_client: LanguageClient):
    capabilities = pytest_lsp.client_capabilities("visual-studio-code")
    capabilities.text_document.diagnostic = types.DiagnosticClientCapabilities()
    capabilities.workspace.diagnostics = types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    result = await lsp_client.initialize_session(types.InitializeParams(capabilities=capabilities, root_uri=SHOP.parent.as_uri()))
    assert result.capabilities.diagnostic_provider.inter_file_dependencies
    yield
    await lsp_client.shutdown_session()


def opened(client: LanguageClient, text: str) -> str:
    uri = SHOP.as_uri()
    document = types.TextDocumentItem(uri=uri, language_id="yaml", version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=document))
    return uri


def place(text: str, word: str) -> types.Position:
    at = text.index(word)
    before = text[:at].split("\n")
    return types.Position(line=len(before) - 1, character=len(before[-1]) + 1)


async def published(client: LanguageClient, uri: str, wanted) -> list[types.Diagnostic]:
    for _ in range(600):
        found = client.diagnostics.get(uri)
        if found is not None and wanted(found):
            return list(found)
        await asyncio.sleep(0.05)
    raise AssertionError(f"nothing of the kind was published: {client.diagnostics.get(uri)}")


@pytest.mark.asyncio
async def test_a_mistake_and_its_repair(client: LanguageClient):
    text = SHOP.read_text().replace("type: shop.nodes.Cache", "type: shop.nodes.Cach")
    uri = opened(client, text)
    found = await published(client, uri, bool)
    assert [it.code for it in found] == ["unknown-type"]
    document = types.TextDocumentIdentifier(uri=uri)
    params = types.CodeActionParams(text_document=document, range=found[0].range, context=types.CodeActionContext(diagnostics=found))
    actions = await client.text_document_code_action_async(params)
    edit = actions[0].edit.changes[uri][0]
    assert edit.new_text == "shop.nodes.Cache"
    change = types.TextDocumentContentChangePartial(range=edit.range, text=edit.new_text)
    version = types.VersionedTextDocumentIdentifier(uri=uri, version=2)
    client.text_document_did_change(types.DidChangeTextDocumentParams(text_document=version, content_changes=[change]))
    # What no variant has is a hint, and no mistake.
    await published(client, uri, lambda it: all(one.severity == types.DiagnosticSeverity.Hint for one in it))


@pytest.mark.asyncio
async def test_names(client: LanguageClient):
    text = SHOP.read_text()
    uri = opened(client, text)
    document, position = types.TextDocumentIdentifier(uri=uri), place(text, "shop.nodes.Cache")
    definition = await client.text_document_definition_async(types.DefinitionParams(text_document=document, position=position))
    assert definition[0].uri.endswith("/lib/types.yaml")
    edit = await client.text_document_rename_async(types.RenameParams(text_document=document, position=position, new_name="shop.nodes.Fridge"))
    assert len(edit.changes) == 2
    context = types.ReferenceContext(include_declaration=True)
    params = types.ReferenceParams(text_document=document, position=position, context=context)
    assert len(await client.text_document_references_async(params)) == sum(map(len, edit.changes.values()))
    hover = await client.text_document_hover_async(types.HoverParams(text_document=document, position=position))
    assert "node type" in hover.contents.value


@pytest.mark.asyncio
async def test_what_may_be_written(client: LanguageClient):
    text = SHOP.read_text()
    uri = opened(client, text)
    document, position = types.TextDocumentIdentifier(uri=uri), place(text, "shop.nodes.Cache")
    result = await client.text_document_completion_async(types.CompletionParams(text_document=document, position=position))
    assert "shop.nodes.Database" in [it.label for it in result.items]
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(text_document=document))
    assert "topology_template" in [it.name for it in symbols]
    folds = await client.text_document_folding_range_async(types.FoldingRangeParams(text_document=document))
    assert len(folds) > 20


@pytest.mark.asyncio
async def test_what_is_shown_within_the_text(client: LanguageClient):
    told = asyncio.get_running_loop().create_future()
    client.feature("cuvee/absent")(lambda params: told.done() or told.set_result(params))
    for what in (types.WORKSPACE_SEMANTIC_TOKENS_REFRESH, types.WORKSPACE_INLAY_HINT_REFRESH):
        client.feature(what)(lambda _: None)
    text = SHOP.read_text()
    uri = opened(client, text)
    document = types.TextDocumentIdentifier(uri=uri)
    client.protocol.notify("cuvee/preset", {"uri": uri, "preset": "dev"})
    absent = await asyncio.wait_for(told, 30)
    assert absent.preset == "dev" and len(absent.ranges) > 5
    tokens = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(text_document=document))
    assert len(tokens.data) % 5 == 0 and len(tokens.data) > 1_000
    whole = types.Range(types.Position(0, 0), types.Position(9_999, 0))
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(text_document=document, range=whole))
    labels = {it.label for it in hints}
    assert {"present if monitoring", "absent in dev"} <= labels
    symbols = await client.workspace_symbol_async(types.WorkspaceSymbolParams(query="cluster"))
    assert "cluster" in [it.name for it in symbols]
    content = await client.workspace_text_document_content_async(types.TextDocumentContentParams(uri="cuvee:/codes/unknown-type"))
    assert content.text.startswith("unknown-type\n")


@pytest.mark.asyncio
async def test_findings_are_asked_for(asking: LanguageClient):
    text = SHOP.read_text()
    uri = opened(asking, text.replace("type: shop.nodes.Cache", "type: shop.nodes.Cach"))
    document = types.TextDocumentIdentifier(uri=uri)
    report = await asking.text_document_diagnostic_async(types.DocumentDiagnosticParams(text_document=document))
    assert [it.code for it in report.items] == ["unknown-type"]
    known = types.DocumentDiagnosticParams(text_document=document, previous_result_id=report.result_id)
    assert isinstance(await asking.text_document_diagnostic_async(known), types.RelatedUnchangedDocumentDiagnosticReport)
    version = types.VersionedTextDocumentIdentifier(uri=uri, version=2)
    change = types.TextDocumentContentChangeWholeDocument(text=text)
    asking.text_document_did_change(types.DidChangeTextDocumentParams(text_document=version, content_changes=[change]))
    report = await asking.text_document_diagnostic_async(known)
    assert not report.items and report.result_id != known.previous_result_id
    workspace = await asking.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(previous_result_ids=[]))
    assert [it.uri for it in workspace.items if it.items] == []
    assert uri not in asking.diagnostics
