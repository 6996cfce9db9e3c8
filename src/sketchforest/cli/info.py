"""`sketchforest info`."""

from sketchforest.cli import options


def info(model: options.ModelArgument, json: options.JsonOption = False) -> None:
    """Describe a model: size, settings, scores and important features.

    Example:  sketchforest info model.sf --json
    """
    from sketchforest.cli.model_views import describe, show_model

    about = describe(options.load_model(model), model)
    if json:
        options.print_json(about)
    else:
        show_model(about, model, options.console())
